package main

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
)

// local returns the operator as which this command appears in the audit log.
func local() operator.Operator {
	// Look the name up by the user ID, because any user can set a name in the environment.
	if uid := os.Getuid(); uid >= 0 {
		if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
			return operator.Local(u.Username)
		}
		return operator.Local("uid-" + strconv.Itoa(uid))
	}
	if u, err := user.Current(); err == nil {
		return operator.Local(u.Username)
	}
	return operator.Local("unknown")
}

func operatorCommand() *cobra.Command {
	c := &cobra.Command{Use: "operator", Short: "Manage the keys of the operators' API"}
	add := commandsOf(c)
	add("add NAME", "Give a person an admin key; the key is printed once", 1, func(c *cobra.Command, a *app.App, args []string) error {
		_, key, err := a.Operators.IssueKey(c.Context(), local(), args[0])
		return done(c, err, "%s", key.Reveal())
	})
	add("remove NAME", "Revoke a person's admin key", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Operators.RevokeKey(c.Context(), local(), args[0])
	})
	add("list", "List the admin keys, oldest first", 0, listOperators)
	return c
}

func listOperators(c *cobra.Command, a *app.App, _ []string) error {
	keys, err := a.Operators.Keys(c.Context())
	return printList(c, "NAME STATE SINCE KEY_ID", keys, err, func(k operator.Key) []any {
		return []any{k.Name, k.State, clock.Text(k.CreatedAt), k.ID}
	})
}

func auditCommand() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Show the audit log, newest first", Args: cobra.NoArgs}
	c.RunE = configured(c).run(showAudit)
	c.Flags().String("company", "", "only lines about this company")
	c.Flags().String("operator", "", "only lines of this operator, such as ada or local:root")
	c.Flags().String("action", "", "only lines of this act, such as company.key.issue")
	c.Flags().Int("lines", 50, "how many lines")
	return c
}

func showAudit(c *cobra.Command, a *app.App, _ []string) error {
	most, err := c.Flags().GetInt("lines")
	if err != nil || most < 1 {
		return usagef("--lines must be at least 1")
	}
	filter := operator.AuditFilter{Company: flagOf(c, "company"), Operator: flagOf(c, "operator"), Action: flagOf(c, "action")}
	lines, total, err := a.Operators.SearchAudit(c.Context(), filter, most, 0)
	err = printList(c, "AT OPERATOR COMPANY ACTION SUBJECT DETAILS", lines, err, func(l operator.Line) []any {
		var details []string
		for name, value := range l.Details {
			if value != "" {
				details = append(details, fmt.Sprintf("%s=%q", name, value))
			}
		}
		slices.Sort(details)
		return []any{clock.Text(l.CreatedAt), l.Operator, l.Company, l.Action, l.Subject, strings.Join(details, " ")}
	})
	if err != nil || total <= int64(len(lines)) {
		return err
	}
	return done(c, nil, "and %d earlier ones", total-int64(len(lines)))
}
