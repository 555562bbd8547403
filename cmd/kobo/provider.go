package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

func providerCommand() *cobra.Command {
	c := &cobra.Command{Use: "provider", Short: "Ask the providers whether they are set up right"}
	c.AddCommand(providerCheckCommand())
	return c
}

func providerCheckCommand() *cobra.Command {
	var in running
	var asJSON bool
	var record string
	c := &cobra.Command{
		Use:   "check [NAME]",
		Short: "Ask the configured providers everything that is free",
		Long: `Ask each configured provider, or the provider NAME, everything that is free: whether the keys,
the accounts, the lists and the look-ups work, and whether the clock and the webhooks are right.
For each check, print the result and what to do. Nothing is bought, moved or changed. The
command needs no database, and prints no secret.

With --spend, the command makes none of these checks. As a client of a running Kobo, it runs the
smallest ordinary operations of one company: airtime, a payout and the funding of a card. It
follows each of them to its outcome. If the command is killed, repeat it: it then settles the order
that was under way, and sends nothing new.

The settings are those of kobo serve. In sandbox mode, the command asks the simulated providers
of a running Kobo: of the one that the settings describe, or else of kobo dev.

The exit code is 1 if a check or an operation failed, or if the provider NAME is not configured.
A warning is no failure. It is 3 if the outcome of an operation is still unknown. docs/operating/first-contact.md explains the checks.`,
		Args: cobra.MaximumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&in.config, "config", "", configUsage)
	f.StringVar(&in.data, "data", "", "ask the simulated providers of the kobo dev with the folder `DIR`; the default is .kobo if nothing is configured")
	f.BoolVar(&asJSON, "json", false, "print one JSON object for each check")
	f.StringVar(&record, "record", "", "store each exchange, without secrets and personal data, as a file in the new folder `DIR`")
	o := spendFlags(f)
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.amount != "" || o.company != "" {
			if len(args) > 0 || asJSON || record != "" {
				return usagef("--spend makes no checks: leave out NAME, --json and --record")
			}
			return spend(c.Context(), c.InOrStdin(), c.OutOrStdout(), o)
		}
		cfg, err := in.load(c)
		if err != nil {
			return err
		}
		all, err := cfg.CheckProviders(c.Context(), strings.Join(args, ""), record)
		if len(all) == 0 {
			return err
		}
		print := printChecks
		if asJSON {
			print = printChecksJSON
		}
		return errors.Join(print(c.OutOrStdout(), all), err, failures(all))
	}
	return c
}

// running is the choice of the settings for the checks.
type running struct{ config, data string }

// load returns the settings of the providers. In sandbox mode they are those of a running Kobo.
func (r running) load(c *cobra.Command) (app.Config, error) {
	if r.config != "" && r.data != "" {
		return app.Config{}, usagef("--config is of a kobo serve and --data of a kobo dev: name one of them")
	}
	cfg, err := app.Load(r.config)
	bare := r.config == "" && cfg.Database == "" && cfg.MasterKey.Reveal() == "" && cfg.MasterKeyFile == ""
	if r.data != "" || err == nil && bare {
		return r.dev(c, cfg)
	}
	if err := cfg.Check(err); err != nil {
		return cfg, err
	}
	if cfg.Mode != app.Sandbox {
		return cfg, nil
	}
	return cfg.ReachSandbox(c.Context(), localURL(cfg.Listen, cfg.TLS.CertFile), cfg.SandboxToken)
}

// dev returns the settings of the simulated providers of a kobo dev.
func (r running) dev(c *cobra.Command, cfg app.Config) (app.Config, error) {
	folder := r.data
	if folder == "" {
		folder = ".kobo"
	}
	credentials, err := readDev(filepath.Join(folder, "dev.json"))
	if err != nil {
		return cfg, fmt.Errorf("nothing is configured: --config names the file of a kobo serve, and --data the folder of a kobo dev: %w", err)
	}
	cfg.Mode = app.Sandbox
	return cfg.ReachSandbox(c.Context(), credentials.BaseURL, secret.NewText(credentials.SandboxToken))
}

// failures returns an error if a check has failed.
func failures(all []provider.Checked) error {
	failed := 0
	for _, one := range all {
		if one.Result == provider.Failed {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d checks failed", failed, len(all))
}

func printChecks(out io.Writer, all []provider.Checked) error {
	t := newTable(out, "PROVIDER CHECK RESULT DETAIL")
	for _, one := range all {
		t.row(one.Provider, one.Check, one.Result, strings.ReplaceAll(one.Detail, "\n", "; "))
		if one.Action != "" {
			t.row("", "", "", "→ "+one.Action)
		}
	}
	return t.Flush()
}

func printChecksJSON(out io.Writer, all []provider.Checked) error {
	lines := json.NewEncoder(out)
	for _, one := range all {
		if err := lines.Encode(one); err != nil {
			return err
		}
	}
	return nil
}
