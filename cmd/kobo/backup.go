package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func backupCommand() *cobra.Command {
	var k app.Copying
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the SQLite database into a file, beside a serving Kobo",
		Long: `Write what the database holds at one instant into FILE, check it, and say what it holds.
Kobo may go on serving. The file is there when it is whole and on the disk, or not at all.

The copy's pages are checked and its book is re-added, as by kobo verify; --quick leaves
the re-adding out. The master key is not in the backup, and neither are the sandbox's books.

PostgreSQL brings its own tools: docs/operating.md.`,
		Args: cobra.ExactArgs(1),
	}
	b := located(c)
	c.Flags().BoolVar(&k.Overwrite, "force", false, "overwrite FILE")
	c.Flags().BoolVar(&k.Quick, "quick", false, "do not re-add the book")
	c.RunE = func(c *cobra.Command, args []string) error {
		k.File = args[0]
		cfg, err := b.settings()
		if err != nil {
			return err
		}
		k.Database = cfg.Database
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
		Short: "Put a backup into the place of the SQLite database",
		Long: `Check the backup, bring it to this program's schema, and put it into the place of the
database. No Kobo may be using that. The database that was there is kept beside it.

What happened after the backup was taken is not in it: providers have paid, and the book
does not know. So the companies' door is closed after a restore. Start Kobo, let it catch up,
run kobo reconcile, settle what that finds, and then kobo door open. Read "Backup and restore"
in docs/operating.md before you need it.`,
		Args: cobra.ExactArgs(1),
	}
	b := located(c)
	b.makes = true
	c.Flags().BoolVar(&k.Quick, "quick", false, "do not re-add the book")
	c.RunE = func(c *cobra.Command, args []string) error {
		k.File = args[0]
		cfg, err := b.settings()
		if err != nil {
			return err
		}
		k.Database = cfg.Database
		held, kept, err := app.Restore(c.Context(), k)
		if err != nil {
			return fmt.Errorf("nothing was restored: %w", err)
		}
		describe(c.OutOrStdout(), k.File, held)
		fmt.Fprintln(c.OutOrStdout(), "restored; the companies' door is closed")
		if kept != "" {
			fmt.Fprintln(c.OutOrStdout(), "what was there is kept as", kept)
		}
		return nil
	}
	return c
}

func describe(w io.Writer, name string, h app.Holding) {
	for _, head := range h.Heads {
		fmt.Fprintf(w, "company %s  last event %d\n", head.Company, head.Sequence)
	}
	fmt.Fprintf(w, "%s: %d companies, schema %d, %d bytes; ", name, len(h.Heads), h.Schema, h.Bytes)
	if h.Added {
		fmt.Fprintf(w, "%d entries, %d operations open: everything adds up\n", h.Entries, h.Open)
	} else {
		fmt.Fprintln(w, "its pages are sound, its book was not re-added")
	}
}
