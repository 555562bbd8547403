package main

import (
	"cmp"
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
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/secret"
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
	c := &cobra.Command{Use: "operator", Short: "Manage the operators and their keys"}
	add := commandsOf(c)
	newcomer := add("add NAME", "Add an operator; a key that Kobo makes is printed once", 1, addOperator)
	newcomer.Long = `Add an operator with a role: viewer, support, finance or admin. While fewer than two admins
exist, the command makes a key and prints it. Afterwards two operators add an operator: the
new person runs kobo operator key, keeps the key and passes on its digest (--digest). So
nobody else sees the key. With the setting four_eyes: off the command always adds at once.`
	newcomer.Flags().String("role", string(operator.Admin), "viewer, support, finance or admin")
	newcomer.Flags().String("digest", "", "the digest of the key that the new operator has made")
	guest := add("invite NAME", "Invite a person to the console; the link is printed once", 1, inviteOperator)
	guest.Long = `Invite an operator to the console. The operator may be new, or may have a key, and somebody
who has lost a passkey is invited again. A new operator gets no key. While fewer than two
admins exist, the link works alone. Afterwards two operators invite: the second one runs
kobo proposal approve and gets a code. The new person needs the link and the code.`
	guest.Flags().String("role", string(operator.Viewer), "viewer, support, finance or admin; of an operator who exists: the present role")
	add("role NAME ROLE", "Give an operator another role", 2, func(c *cobra.Command, a *app.App, args []string) error {
		return act(c, a, at("operators", args[0], "role"), map[string]string{"role": args[1]}, func() error {
			_, err := a.Operators.SetRole(c.Context(), local(), args[0], operator.Role(args[1]))
			return err
		})
	})
	add("remove NAME", "Revoke a person's admin key", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Operators.RevokeKey(c.Context(), local(), args[0])
	})
	add("list", "List the admin keys, oldest first", 0, listOperators)
	c.AddCommand(&cobra.Command{
		Use: "key", Short: "Make an admin key for yourself, and its digest for those who add you", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			key, digest := operator.NewKey()
			return done(c, nil, "key     %s\ndigest  %s", key.Reveal(), digest)
		},
	})
	return c
}

func addOperator(c *cobra.Command, a *app.App, args []string) error {
	name, role, digest := args[0], operator.Role(flagOf(c, "role")), flagOf(c, "digest")
	admins, err := a.Operators.Admins(c.Context())
	if err != nil {
		return err
	}
	if a.FourEyes() && admins >= 2 {
		if digest == "" {
			return usagef("two operators add %s: --digest is what kobo operator key prints for %s", name, name)
		}
		return send(c, a, "operators", map[string]string{"name": name, "role": string(role), "keyDigest": digest})
	}
	var key secret.Text
	if digest == "" {
		key, digest = operator.NewKey()
	}
	_, err = a.Operators.Add(c.Context(), local(), name, role, digest)
	return done(c, err, "%s", cmp.Or(key.Reveal(), "added"))
}

// inviteOperator makes the link of an invitation. Only its digest leaves this command.
func inviteOperator(c *cobra.Command, a *app.App, args []string) error {
	name, role := args[0], operator.Role(flagOf(c, "role"))
	admins, err := a.Operators.Admins(c.Context())
	if err != nil {
		return err
	}
	token, digest := person.NewLink()
	if a.FourEyes() && admins >= 2 {
		err = send(c, a, "operators/invitations", map[string]string{"name": name, "role": string(role), "linkDigest": digest})
	} else {
		_, err = a.People.Invite(c.Context(), local(), name, role, digest)
	}
	return done(c, err, "%s", a.ConsoleLink(token))
}

func listOperators(c *cobra.Command, a *app.App, _ []string) error {
	keys, err := a.Operators.Keys(c.Context())
	return printList(c, "NAME STATE ROLE SINCE EXPIRES LAST_USED KEY_ID", keys, err, func(k operator.Key) []any {
		return []any{k.Name, k.State, k.Role, clock.Text(k.CreatedAt), instant(k.ExpiresAt), instant(k.UsedAt), k.ID}
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
