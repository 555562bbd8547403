package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// local is who runs a command here, for the audit log.
func local() operator.Operator {
	// By number: a name from the environment is whatever somebody says.
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

// verb adds a subcommand that runs on a program which is built but not serving.
type verb func(use, short string, args int, do func(c *cobra.Command, a *app.App, args []string) error) *cobra.Command

func verbsOf(parent *cobra.Command) verb {
	b := named(parent)
	return func(use, short string, args int, do func(c *cobra.Command, a *app.App, args []string) error) *cobra.Command {
		one := &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(args),
			RunE: func(c *cobra.Command, args []string) error {
				return b.opened(c.Context(), func(a *app.App) error { return do(c, a, args) })
			},
		}
		parent.AddCommand(one)
		return one
	}
}

func companyCommand() *cobra.Command {
	c := &cobra.Command{Use: "company", Short: "Take companies on and look after them"}
	sub := verbsOf(c)
	sub("create NAME", "Take a company on; prints its reference and its API key, once", 1, createCompany)
	sub("list", "List the companies, newest first", 0, listCompanies)
	sub("show REFERENCE", "Show a company with its API keys and settlement accounts", 1, showCompany)
	sub("kyb REFERENCE STATUS", "Move its verification: IN_PROGRESS, SUBMITTED, APPROVED, REJECTED, CHANGES_REQUESTED", 2, moveKYB).
		Flags().String("reason", "", "what the company is told with it")
	sub("live REFERENCE on|off", "Switch it on or off", 2, setLive)
	sub("key REFERENCE", "Issue one more API key; older ones stay valid", 1, issueKey).
		Flags().String("expires", "", "when it ends, as 2030-12-31T23:59:59Z; empty: never")
	sub("keys REFERENCE", "List its API keys", 1, listKeys)
	sub("revoke-key REFERENCE ID", "End an API key", 2, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Companies.RevokeKey(c.Context(), local(), args[0], args[1])
	})
	sub("pin REFERENCE", "Set its transaction PIN, read from standard input, and unlock it", 1, setPIN)
	sub("unlock-pin REFERENCE", "Unlock its transaction PIN and leave it as it is", 1, unlockPIN)
	sub("xpub REFERENCE evm|tron|bitcoin XPUB", "Make its deposit addresses from this extended public key", 3, setXpub)
	sub("xpubs REFERENCE", "List its extended public keys", 1, listXpubs)
	settlementVerbs(sub)
	quotaVerbs(sub)
	sub("card-address REFERENCE", "Show the address of cardholders who have none", 1, showCardAddress)
	address := sub("set-card-address REFERENCE LINE1 CITY STATE", "Set the address of cardholders who have none", 4, setCardAddress).Flags()
	address.String("line2", "", "the second line")
	address.String("country", "", "the country")
	address.String("postal-code", "", "the postal code")
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
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "REFERENCE\tNAME\tKYB\tLIVE\tSINCE")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Companies.List(c.Context(), limit, offset)
		for _, one := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\n", one.Reference, one.Name, one.KYB, one.Live, clock.Text(one.CreatedAt))
		}
		return len(list), err
	})
}

func moveKYB(c *cobra.Command, a *app.App, args []string) error {
	moved, err := a.Companies.MoveKYB(c.Context(), local(), args[0], company.KYB(args[1]), flagOf(c, "reason"))
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), moved.KYB)
	}
	return err
}

func setLive(c *cobra.Command, a *app.App, args []string) error {
	if args[1] != "on" && args[1] != "off" {
		return usagef("say on or off, not %q", args[1])
	}
	_, err := a.Companies.SetLive(c.Context(), local(), args[0], args[1] == "on")
	return err
}

// flagOf is a flag that the command has.
func flagOf(c *cobra.Command, name string) string { return c.Flag(name).Value.String() }

func issueKey(c *cobra.Command, a *app.App, args []string) error {
	var expires time.Time
	if text := flagOf(c, "expires"); text != "" {
		var err error
		if expires, err = time.Parse(time.RFC3339, text); err != nil {
			return usagef("%q is not an instant such as 2030-12-31T23:59:59Z", text)
		}
	}
	_, key, err := a.Companies.IssueKey(c.Context(), local(), args[0], expires.UTC())
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), key.Reveal())
	}
	return err
}

// showCompany is a company with what belongs to it, so that one finds the ids
// that the other commands ask for.
func showCompany(c *cobra.Command, a *app.App, args []string) error {
	one, err := a.Companies.Find(c.Context(), args[0])
	if err != nil {
		return err
	}
	accounts, err := a.Settlements.Accounts(c.Context(), one.Reference)
	if err != nil {
		return err
	}
	pin, err := a.Companies.PINState(c.Context(), one.Reference)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s  %s\nKYB %s, live %t, PIN %s, since %s\n\n", one.Reference, one.Name, one.KYB, one.Live, pin, clock.Text(one.CreatedAt))
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SETTLEMENT\tNAME\tSTATUS\tDEFAULT\tBALANCE\tTOLD BELOW\tBANK ACCOUNT\tSINCE")
	for _, s := range accounts {
		fmt.Fprintf(w, "%d\t%s\t%s\t%t\t%s\t%s\t%s\t%s\n", s.ID, s.Name, s.Status, s.IsDefault, s.Balance.Decimal(), toldBelow(s),
			strings.TrimSpace(s.AccountNumber+" "+s.BankName), clock.Text(s.CreatedAt))
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return err
	}
	return listKeys(c, a, args)
}

func listKeys(c *cobra.Command, a *app.App, args []string) error {
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
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
	read := make(chan error, 1)
	go func() { _, err := fmt.Fscanln(c.InOrStdin(), &pin); read <- err }()
	select {
	case <-c.Context().Done(): // reading does not notice
		return errors.New("no PIN was read")
	case err := <-read:
		if err != nil {
			return fmt.Errorf("no PIN was read: %w", err)
		}
	}
	return a.Companies.SetPIN(c.Context(), local(), args[0], secret.NewText(strings.TrimSpace(pin)))
}

func unlockPIN(c *cobra.Command, a *app.App, args []string) error {
	return a.Companies.UnlockPIN(c.Context(), local(), args[0])
}

func showCardAddress(c *cobra.Command, a *app.App, args []string) error {
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	is, err := a.Cards.Address(c.Context(), args[0])
	switch {
	case err != nil:
		return err
	case is.Line1 == "":
		fmt.Fprintln(c.OutOrStdout(), "none: such a customer gets no card")
		return nil
	}
	var lines []string
	for _, line := range []string{is.Line1, is.Line2, is.City, is.State, is.PostalCode, is.Country} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	from := "of the deployment"
	if !is.Since.IsZero() {
		from = "since " + clock.Text(is.Since)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s (%s)\n", strings.Join(lines, ", "), from)
	return nil
}

func setCardAddress(c *cobra.Command, a *app.App, args []string) error {
	return a.Cards.SetAddress(c.Context(), local(), args[0], customer.Address{
		Line1: args[1], City: args[2], State: args[3],
		Line2: flagOf(c, "line2"), Country: flagOf(c, "country"), PostalCode: flagOf(c, "postal-code"),
	})
}
