package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func backupCommand() *cobra.Command {
	var k app.Copying
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the SQLite database into a file, while Kobo serves",
		Long: `Write the content of the database at one instant into FILE. Check the copy, and print what
it holds. FILE appears only when it is complete and on the disk. Kobo may go on serving.

The command checks the pages of the copy, and the ledger as kobo verify does. --quick
leaves out the ledger. A backup holds neither the keys nor the sandbox's books.

PostgreSQL has tools of its own: docs/operating/incidents.md.`,
		Args: cobra.ExactArgs(1),
	}
	l := configuredOrDev(c)
	c.Flags().BoolVar(&k.Overwrite, "force", false, "overwrite FILE")
	c.Flags().BoolVar(&k.Quick, "quick", false, "do not check the ledger")
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		k.File, k.Database = args[0], cfg.Database
		if signer, err := cfg.Evidence(); err == nil {
			k.Signer = signer // without it, the MACs are not checked
		}
		held, err := app.Backup(c.Context(), k)
		if err != nil {
			return fmt.Errorf("no backup was made: %w", err)
		}
		describe(c.OutOrStdout(), k.File, held)
		return nil
	}
	return c
}

func restoreCommand() *cobra.Command {
	k := app.Copying{By: local()}
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace the SQLite database by a backup",
		Long: `Check the backup, migrate it to this program's schema, and replace the database by it. No
Kobo may use the database meanwhile. The command keeps the old database beside the new one.
It refuses if the backup or the database is of another environment.

A backup does not hold what happened after it was made: providers have paid, and the ledger
does not know. So a restore closes API access for companies. Start Kobo and let it catch up.
Run kobo reconcile, decide what it finds, and then run kobo door open. Read "Backup and
restore" in docs/operating/incidents.md before you need it.`,
		Args: cobra.ExactArgs(1),
	}
	l := configuredOrDev(c)
	l.mayBeMissing = true
	c.Flags().BoolVar(&k.Quick, "quick", false, "do not check the ledger")
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		k.File, k.Database, k.Mode = args[0], cfg.Database, cfg.Mode
		if k.Signer, err = cfg.Evidence(); err != nil {
			return err
		}
		held, kept, err := app.Restore(c.Context(), k)
		if err != nil {
			return fmt.Errorf("nothing was restored: %w", err)
		}
		describe(c.OutOrStdout(), k.File, held)
		fmt.Fprintln(c.OutOrStdout(), "restored; API access for companies is closed")
		if kept != "" {
			fmt.Fprintln(c.OutOrStdout(), "what was there is kept as", kept)
		}
		return nil
	}
	return c
}

func describe(w io.Writer, name string, h app.Holding) {
	for _, c := range h.Heads {
		fmt.Fprintf(w, "company %s  last event %d\n", c.Company, c.Sequence)
	}
	fmt.Fprintf(w, "%s: %d companies, schema %d, environment %s, %d bytes; ", name, len(h.Heads), h.Schema, cmp.Or(h.Environment, "not set yet"), h.Bytes)
	if h.Added {
		fmt.Fprintf(w, "%d entries, %d operations open: everything adds up\n", h.Entries, h.Open)
	} else {
		fmt.Fprintln(w, "its pages are sound, its ledger was not added up again")
	}
}
