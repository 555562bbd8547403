package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
)

func verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Re-add the whole book and say what does not add up",
		Long: `Re-add the book of every company from its entries: chains unbroken, no floor broken,
debits equal to credits, money in clearing equal to the open operations, events without
a gap. Then compare each fact with its other copies: operations, credits, adjustments and
cases with their transfers, events with what they tell of, pending operations with their
jobs, limits with what was paid, decisions with the audit log. Print each difference with
its company, what it is, its id, and what was expected and found. It only reads, and may
run beside a serving Kobo. The exit code is 1 if anything does not add up.`,
		Args: cobra.NoArgs,
	}
	b := located(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return verify(c, b) }
	return c
}

func verify(c *cobra.Command, b *book) error {
	ctx := c.Context()
	d, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	r := report.New(d, clock.System{})
	companies, err := r.Companies(ctx)
	if err != nil {
		return err
	}
	bar := progressbar.NewOptions(len(companies), progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetVisibility(watched(os.Stderr)),
		progressbar.OptionSetDescription("re-adding"), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	var entries, operations int64
	wrong := false
	for _, one := range companies {
		found, err := r.Verify(ctx, one)
		if err != nil {
			return err
		}
		entries += found.Entries
		operations += int64(found.InFlight.Operations)
		for _, w := range found.Lines() {
			fmt.Fprintln(c.OutOrStdout(), w)
			wrong = true
		}
		_ = bar.Add(1) // a bar that cannot be drawn changes nothing
	}
	_ = bar.Finish()
	if wrong {
		return errors.New("the book does not add up")
	}
	fmt.Fprintf(c.OutOrStdout(), "%d companies, %d entries, %d operations open: everything adds up\n", len(companies), entries, operations)
	return nil
}

// watched tells whether somebody looks at a file: what a job writes has no use for
// a bar.
func watched(f *os.File) bool {
	at, err := f.Stat()
	return err == nil && at.Mode()&os.ModeCharDevice != 0
}
