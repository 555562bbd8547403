package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/report"
)

func verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that the ledger adds up",
		Long: `Add up the ledger of every company again from its entries. Check that the entries have no
gap, that no account is below its floor, that debits equal credits, that the money in
clearing belongs to open operations, and that the events have no gap.

Then compare each fact with its other copies: operations, credits, adjustments and cases
with their transfers, events with their contents, pending operations with their jobs,
limits with payments, and decisions with the audit log. Print each difference with its
company, its check, its id, the expected value and the value found.

Check the MACs of transfers, events and audit lines with the evidence key, and that their
numbers have no gap. This finds rows that were altered, added or deleted by hand.

Last, compute the Merkle tree of each company again from its transfers, events and audit
lines. Compare it with the stored tiles, with all checkpoints, and with the checkpoints in
checkpoint_folder. This needs the evidence key.

On Citus, also check that each table is on the nodes where it belongs.

The command only reads, and may run beside a serving Kobo. The exit code is 1 if there is
a difference, or a row without a MAC. It is also 1 without the evidence key, unless
--without-key is given, because then neither MACs nor trees are checked.`,
		Args: cobra.NoArgs,
	}
	keyless := c.Flags().Bool("without-key", false, "check no MAC and no tree")
	l := configuredOrDev(c)
	c.RunE = l.withDatabase(func(c *cobra.Command, d *db.DB, _ []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		trees, err := cfg.Trees(d)
		if err != nil {
			fmt.Fprintln(c.ErrOrStderr(), "kobo: the trees are not checked:", err)
		}
		return verify(c, d, trees, *keyless)
	})
	return c
}

func verify(c *cobra.Command, d *db.DB, trees *evidence.Service, keyless bool) error {
	ctx, r := c.Context(), report.New(d, clock.System{})
	companies, err := r.Companies(ctx)
	if err != nil {
		return err
	}
	bar := progressOf(len(companies))
	var entries, operations, unsigned int64
	wrong := false
	say := func(lines []string) {
		for _, w := range lines {
			fmt.Fprintln(c.OutOrStdout(), w)
			wrong = true
		}
	}
	add := func(found report.Verification) {
		entries += found.Entries
		operations += int64(found.InFlight.Operations)
		unsigned += found.Unsigned
		say(found.Lines())
	}
	for _, one := range companies {
		found, err := r.Verify(ctx, one)
		if err != nil {
			return err
		}
		add(found)
		if trees != nil {
			lines, err := r.VerifyTree(ctx, trees, one, found.Rows)
			if err != nil {
				return err
			}
			say(lines)
		}
		_ = bar.Add(1) // if the progress bar cannot be drawn, the check goes on
	}
	_ = bar.Finish()
	misplaced, placed := d.Misplaced(ctx)
	say(misplaced)
	log, err := r.VerifyLog(ctx)
	if err = errors.Join(placed, err); err != nil {
		return err
	}
	add(log)
	if trees != nil {
		rest, explained, err := r.VerifyTreesOfNoCompany(ctx, trees, log.Rows)
		if err != nil {
			return err
		}
		say(rest)
		for _, line := range explained {
			fmt.Fprintln(c.OutOrStdout(), line)
		}
	}
	all := covered{len(companies), entries, operations, unsigned, !log.Unchecked, trees != nil}
	if wrong {
		fmt.Fprintln(c.OutOrStdout(), all.text()+": not everything adds up")
		return errors.New("the ledger does not add up")
	}
	return concluded(c.OutOrStdout(), all, keyless)
}

// covered is what a check covers.
type covered struct {
	companies                     int
	entries, operations, unsigned int64
	macs, trees                   bool // whether they were checked
}

func (a covered) text() string {
	return fmt.Sprintf("%d companies, %d entries, %d operations open", a.companies, a.entries, a.operations)
}

// concluded says what the check covers. Rows that it does not cover are an error, but for a check without the key.
func concluded(w io.Writer, all covered, keyless bool) error {
	if !all.macs {
		fmt.Fprintln(w, "no MAC was checked: evidence_key_file is not set, or cannot be read")
	}
	if all.unsigned > 0 {
		fmt.Fprintf(w, "%d rows are not signed: after an upgrade from a schema before %d, kobo adopt signs the rows of earlier programs\n", all.unsigned, signing)
	}
	fmt.Fprintln(w, all.text()+": everything adds up")
	switch {
	case all.unsigned > 0:
		return errors.New("rows are not signed, so they may be forged")
	case !keyless && (!all.macs || !all.trees):
		return errors.New("neither MACs nor trees were checked: set evidence_key_file, or give --without-key")
	}
	return nil
}

// progressOf returns the progress bar of a number of companies.
func progressOf(companies int) *progressbar.ProgressBar {
	return progressbar.NewOptions(companies, progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetVisibility(isTerminal(os.Stderr)),
		progressbar.OptionSetDescription("re-adding"), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
}

// isTerminal reports whether a file is a terminal, which can show a progress bar.
func isTerminal(f *os.File) bool {
	at, err := f.Stat()
	return err == nil && at.Mode()&os.ModeCharDevice != 0
}
