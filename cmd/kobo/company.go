package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/secret"
)

func companyCommand() *cobra.Command {
	c := &cobra.Command{Use: "company", Short: "Manage companies"}
	add := commandsOf(c)
	add("create NAME", "Create a company; its reference and its API key (in live mode a key token) are printed once", 1, createCompany)
	add("list", "List the companies, newest first", 0, listCompanies)
	add("show REFERENCE", "Show a company with its API keys and settlement accounts", 1, showCompany)
	add("kyb REFERENCE STATUS", "Set the KYB status: IN_PROGRESS, SUBMITTED, APPROVED, REJECTED, CHANGES_REQUESTED", 2, setKYB).
		Flags().String("reason", "", "the reason that the company is told")
	add("live REFERENCE on|off", "Switch a company on or off", 2, setLive)
	add("request-limit REFERENCE REQUESTS", "Set how many requests the company may make per second", 2, setRequestLimit).
		Long = `Set how many requests the company may make per second. 0 restores the limit of the deployment.
Every program applies the new limit within a second.`
	add("key REFERENCE", "Issue another API key (in live mode a key token); older keys stay valid", 1, issueKey).
		Flags().String("expires", "", "the end of the key, such as 2030-12-31T23:59:59Z; empty: never")
	add("keys REFERENCE", "List the API keys of a company", 1, ofCompany(listKeys))
	add("revoke-key REFERENCE ID", "Revoke an API key", 2, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Companies.RevokeKey(c.Context(), local(), args[0], args[1])
	})
	add("pin REFERENCE", "Set and unlock the transaction PIN; the PIN is read from standard input", 1, setPIN)
	add("pin-reset REFERENCE", "Issue a PIN token, with which the company sets its PIN once within 24 hours", 1, resetPIN)
	add("unlock-pin REFERENCE", "Unlock the transaction PIN without a change, once between two right PINs", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return act(c, a, at("companies", args[0], "pin", "unlock"), nil, func() error { return a.Companies.UnlockPIN(c.Context(), local(), args[0]) })
	})
	add("xpub REFERENCE evm|tron|bitcoin XPUB", "Derive deposit addresses from this extended public key", 3, setXpub)
	add("xpubs REFERENCE", "List the extended public keys of a company", 1, listXpubs)
	addSettlementCommands(add)
	addQuotaCommands(add)
	c.AddCommand(companyPersonCommand())
	add("card-address REFERENCE", "Show the address of cardholders without an address", 1, ofCompany(showCardAddress))
	address := add("set-card-address REFERENCE LINE1 CITY STATE", "Set the address of cardholders without an address", 4,
		setCardAddress).Flags()
	address.String("line2", "", "the second line")
	address.String("country", "", "the country")
	address.String("postal-code", "", "the postal code")
	return c
}

// ofCompany returns an action for a command whose first argument names a company. The action checks
// that the company exists, and then runs do.
func ofCompany(do action) action {
	return func(c *cobra.Command, a *app.App, args []string) error {
		if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
			return err
		}
		return do(c, a, args)
	}
}

func createCompany(c *cobra.Command, a *app.App, args []string) error {
	return act(c, a, "companies", map[string]string{"name": args[0]}, func() error {
		is, key, err := a.Companies.Create(c.Context(), local(), args[0])
		return done(c, err, "reference  %s\nAPI key    %s", is.Reference, key.Reveal())
	})
}

func listCompanies(c *cobra.Command, a *app.App, _ []string) error {
	read := func(ctx context.Context, _ struct{}, after string, limit int) ([]company.Company, error) {
		return a.Companies.After(ctx, company.Filter{}, after, limit)
	}
	return printAfter(c, "REFERENCE NAME KYB LIVE SINCE", struct{}{}, read, func(is company.Company) []any {
		return []any{is.Reference, is.Name, is.KYB, is.Live, clock.Text(is.CreatedAt)}
	})
}

func setKYB(c *cobra.Command, a *app.App, args []string) error {
	body := map[string]string{"status": args[1], "reason": flagOf(c, "reason")}
	return act(c, a, at("companies", args[0], "kyb"), body, func() error {
		is, err := a.Companies.SetKYB(c.Context(), local(), args[0], company.KYB(args[1]), flagOf(c, "reason"))
		return done(c, err, "%s", is.KYB)
	})
}

func setLive(c *cobra.Command, a *app.App, args []string) error {
	if args[1] != "on" && args[1] != "off" {
		return usagef("say on or off, not %q", args[1])
	}
	direct := func() error {
		_, err := a.Companies.SetLive(c.Context(), local(), args[0], args[1] == "on")
		return err
	}
	if args[1] == "off" {
		return direct() // so it also works without a key
	}
	return act(c, a, at("companies", args[0], "live"), map[string]bool{"live": true}, direct)
}

func setRequestLimit(c *cobra.Command, a *app.App, args []string) error {
	requests, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return usagef("%q is not a number", args[1])
	}
	return act(c, a, at("companies", args[0], "request-limit"), map[string]int64{"requestsPerSecond": requests}, func() error {
		_, err := a.Companies.SetPerSecond(c.Context(), local(), args[0], requests)
		return err
	})
}

func flagOf(c *cobra.Command, name string) string { return c.Flag(name).Value.String() }

func issueKey(c *cobra.Command, a *app.App, args []string) error {
	var expires time.Time
	if text := flagOf(c, "expires"); text != "" {
		var err error
		if expires, err = time.Parse(time.RFC3339, text); err != nil {
			return usagef("%q is not an instant such as 2030-12-31T23:59:59Z", text)
		}
	}
	body := map[string]string{}
	if !expires.IsZero() {
		body["expiresAt"] = clock.Text(expires.UTC())
	}
	return act(c, a, at("companies", args[0], "api-keys"), body, func() error {
		_, key, err := a.Companies.IssueKey(c.Context(), local(), args[0], expires.UTC())
		return done(c, err, "%s", key.Reveal())
	})
}

func showCompany(c *cobra.Command, a *app.App, args []string) error {
	is, err := a.Companies.Find(c.Context(), args[0])
	if err != nil {
		return err
	}
	accounts, err := a.Settlements.Accounts(c.Context(), is.Reference)
	if err != nil {
		return err
	}
	pin, err := a.Companies.PINState(c.Context(), is.Reference)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s  %s\nKYB %s, live %t, PIN %s, since %s%s\n\n",
		is.Reference, is.Name, is.KYB, is.Live, pin, clock.Text(is.CreatedAt), requestLimit(is))
	t := newTable(c.OutOrStdout(), "SETTLEMENT NAME STATUS DEFAULT BALANCE TOLD_BELOW BANK_ACCOUNT SINCE")
	for _, s := range accounts {
		bank := strings.TrimSpace(string(s.AccountNumber + " " + s.BankName))
		t.row(s.ID, s.Name, s.Status, s.IsDefault, s.Balance.Decimal(), alertOf(s), bank, clock.Text(s.CreatedAt.Time))
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	return listKeys(c, a, args)
}

// requestLimit describes the request limit of a company that does not have the usual limit.
func requestLimit(is company.Company) string {
	if is.PerSecond == 0 {
		return ""
	}
	return fmt.Sprintf(", %d requests per second", is.PerSecond)
}

func listKeys(c *cobra.Command, a *app.App, args []string) error {
	keys, err := a.Companies.Keys(c.Context(), args[0])
	return printList(c, "ID STATE SINCE EXPIRES", keys, err, func(k company.Key) []any {
		return []any{k.ID, k.State, clock.Text(k.CreatedAt), instant(k.ExpiresAt)}
	})
}

func resetPIN(c *cobra.Command, a *app.App, args []string) error {
	return act(c, a, at("companies", args[0], "pin-reset"), nil, func() error {
		t, err := a.Companies.IssuePINToken(c.Context(), local(), args[0])
		return done(c, err, "PIN token  %s\nexpires    %s", t.Text.Reveal(), clock.Text(t.ExpiresAt))
	})
}

// setPIN reads the PIN from standard input. A PIN in an argument would stay in the history of the
// shell, and other users could see it in the list of processes.
func setPIN(c *cobra.Command, a *app.App, args []string) error {
	if a.HidesSecrets() {
		return errors.New("operators do not set PINs in live mode with four eyes: issue a PIN token with kobo company pin-reset")
	}
	fmt.Fprint(os.Stderr, "PIN: ")
	var pin string
	read := make(chan error, 1)
	go func() { _, err := fmt.Fscanln(c.InOrStdin(), &pin); read <- err }()
	select {
	case <-c.Context().Done(): // the goroutine that reads standard input is left behind
		return errors.New("no PIN was read")
	case err := <-read:
		if err != nil {
			return fmt.Errorf("no PIN was read: %w", err)
		}
	}
	pin = strings.TrimSpace(pin)
	return act(c, a, at("companies", args[0], "pin"), map[string]string{"pin": pin}, func() error {
		return a.Companies.SetPIN(c.Context(), local(), args[0], secret.NewText(pin))
	})
}

// setXpub stores the extended public key and prints the first address, so that the operator
// can compare the address with the company's wallet.
func setXpub(c *cobra.Command, a *app.App, args []string) error {
	return act(c, a, at("companies", args[0], "xpubs"), map[string]string{"chain": args[1], "xpub": args[2]}, func() error {
		key, first, err := a.Crypto.SetKey(c.Context(), local(), args[0], chain.Kind(args[1]), args[2])
		return done(c, err, "key            %s\nfirst address  %s", key.ID, first)
	})
}

func listXpubs(c *cobra.Command, a *app.App, args []string) error {
	keys, err := a.Crypto.Keys(c.Context(), args[0])
	return printList(c, "KEY FROM SINCE XPUB", keys, err, func(k crypto.Key) []any {
		return []any{k.ID, k.Source, clock.Text(k.CreatedAt), k.Public}
	})
}

func showCardAddress(c *cobra.Command, a *app.App, args []string) error {
	is, err := a.Cards.Address(c.Context(), args[0])
	if err != nil || is.Line1 == "" {
		return done(c, err, "none: such a customer gets no card")
	}
	lines := []string{is.Line1, is.Line2, is.City, is.State, is.PostalCode, is.Country}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	from := "of the deployment"
	if !is.Since.IsZero() {
		from = "since " + clock.Text(is.Since)
	}
	return done(c, nil, "%s (%s)", strings.Join(lines, ", "), from)
}

func setCardAddress(c *cobra.Command, a *app.App, args []string) error {
	return a.Cards.SetAddress(c.Context(), local(), args[0], customer.Address{
		Line1: args[1], City: args[2], State: args[3],
		Line2: flagOf(c, "line2"), Country: flagOf(c, "country"), PostalCode: flagOf(c, "postal-code"),
	})
}
