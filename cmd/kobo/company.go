package main

import (
	"fmt"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// local is who runs a command here, for the audit log.
func local() operator.Operator {
	if u, err := user.Current(); err == nil {
		return operator.Local(u.Username)
	}
	return operator.Local("unknown")
}

func companyCommand() *cobra.Command {
	c := &cobra.Command{Use: "company", Short: "Take companies on and look after them"}
	load := configured(c)
	sub := func(use, short string, args int, do func(c *cobra.Command, a *app.App, args []string) error) {
		c.AddCommand(&cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(args),
			RunE: func(c *cobra.Command, args []string) error {
				return opened(c.Context(), load, func(a *app.App) error { return do(c, a, args) })
			},
		})
	}
	sub("create NAME", "Take a company on; prints its reference and its API key, once", 1, createCompany)
	sub("list", "List the companies, newest first", 0, listCompanies)
	sub("kyb REFERENCE STATUS", "Move its verification: IN_PROGRESS, SUBMITTED, APPROVED, REJECTED, CHANGES_REQUESTED", 2, moveKYB)
	sub("live REFERENCE on|off", "Switch it on or off", 2, setLive)
	sub("key REFERENCE", "Issue one more API key; older ones stay valid", 1, issueKey)
	sub("keys REFERENCE", "List its API keys", 1, listKeys)
	sub("revoke-key REFERENCE ID", "End an API key", 2, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Companies.RevokeKey(c.Context(), local(), args[0], args[1])
	})
	sub("pin REFERENCE", "Set its transaction PIN, read from standard input, and unlock it", 1, setPIN)
	sub("xpub REFERENCE evm|tron|bitcoin XPUB", "Make its deposit addresses from this extended public key", 3, setXpub)
	sub("xpubs REFERENCE", "List its extended public keys", 1, listXpubs)
	sub("settlement REFERENCE NAME", "Open a settlement account", 2, openSettlement)
	return c
}

func createCompany(c *cobra.Command, a *app.App, args []string) error {
	made, key, err := a.Companies.Create(c.Context(), local(), args[0])
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "reference  %s\nAPI key    %s\n", made.Reference, key.Reveal())
	}
	return err
}

func listCompanies(c *cobra.Command, a *app.App, _ []string) error {
	const page = 500
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "REFERENCE\tNAME\tKYB\tLIVE\tSINCE")
	for offset := 0; ; offset += page {
		list, _, err := a.Companies.List(c.Context(), page, offset)
		if err != nil {
			return err
		}
		for _, one := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\n", one.Reference, one.Name, one.KYB, one.Live, clock.Text(one.CreatedAt))
		}
		if len(list) < page {
			return w.Flush()
		}
	}
}

func moveKYB(c *cobra.Command, a *app.App, args []string) error {
	moved, err := a.Companies.MoveKYB(c.Context(), local(), args[0], company.KYB(args[1]), "")
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), moved.KYB)
	}
	return err
}

func setLive(c *cobra.Command, a *app.App, args []string) error {
	if args[1] != "on" && args[1] != "off" {
		return fmt.Errorf("say on or off, not %q", args[1])
	}
	_, err := a.Companies.SetLive(c.Context(), local(), args[0], args[1] == "on")
	return err
}

func issueKey(c *cobra.Command, a *app.App, args []string) error {
	_, key, err := a.Companies.IssueKey(c.Context(), local(), args[0], time.Time{})
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), key.Reveal())
	}
	return err
}

func listKeys(c *cobra.Command, a *app.App, args []string) error {
	keys, err := a.Companies.Keys(c.Context(), args[0])
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tSINCE\tEXPIRES")
	for _, k := range keys {
		expires := "never"
		if !k.ExpiresAt.IsZero() {
			expires = clock.Text(k.ExpiresAt)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.ID, k.State, clock.Text(k.CreatedAt), expires)
	}
	return w.Flush()
}

// setPIN reads the PIN from standard input: an argument would stay in the
// shell's history and show in the list of processes.
func setPIN(c *cobra.Command, a *app.App, args []string) error {
	fmt.Fprint(os.Stderr, "PIN: ")
	var pin string
	if _, err := fmt.Fscanln(c.InOrStdin(), &pin); err != nil {
		return fmt.Errorf("no PIN was read: %w", err)
	}
	return a.Companies.SetPIN(c.Context(), local(), args[0], secret.NewText(strings.TrimSpace(pin)))
}

func openSettlement(c *cobra.Command, a *app.App, args []string) error {
	account, err := a.Settlements.Create(c.Context(), local(), args[0], args[1])
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), account.ID)
	}
	return err
}

func operatorCommand() *cobra.Command {
	c := &cobra.Command{Use: "operator", Short: "Who may use the operators' API"}
	load := configured(c)
	add := &cobra.Command{
		Use: "add NAME", Short: "Give a person an admin key, printed once; their old key ends", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return opened(c.Context(), load, func(a *app.App) error {
				_, key, err := a.Operators.IssueKey(c.Context(), local(), args[0])
				if err == nil {
					fmt.Fprintln(c.OutOrStdout(), key.Reveal())
				}
				return err
			})
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "End a person's admin key", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return opened(c.Context(), load, func(a *app.App) error {
				return a.Operators.RevokeKey(c.Context(), local(), args[0])
			})
		},
	}
	c.AddCommand(add, remove)
	return c
}
