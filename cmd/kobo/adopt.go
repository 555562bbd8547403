package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
)

// signing is the first schema whose programs sign the rows of evidence and of rights.
const signing = 64

func adoptCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "adopt",
		Short: "Sign the history that earlier programs wrote",
		Long: `Number and sign the transfers, events and audit lines that programs without an evidence key
wrote. Sign the rows that hold rights, such as API keys, that programs before schema 64 wrote.
Run the command once after the upgrade of all programs from a schema before 64. A new Kobo never
needs it. Run kobo verify before it, because the command trusts the rows that it signs: their
number must not have grown since the upgrade.

The command works in short steps beside a serving Kobo. After an interruption, run it again.
It signs the rows of a company only once: from then on every row without a signature is a
finding of kobo verify, and no program of an earlier schema may use the database.

Run it as the owner of the database (docs/upgrading.md).`,
		Args: cobra.NoArgs,
	}
	l := configuredOrDev(c)
	l.writes = true
	c.RunE = l.withDatabase(adopt)
	return c
}

func adopt(c *cobra.Command, d *db.DB, _ []string) error {
	if d.Signer() == nil {
		return errors.New("the rows are signed with the evidence key: set evidence_key_file")
	}
	ctx := c.Context()
	if err := d.Fits(ctx); err != nil {
		return err
	}
	if err := d.Outgrow(ctx, signing); err != nil {
		return err
	}
	heads, err := report.New(d, clock.System{}).Heads(ctx)
	if err != nil {
		return err
	}
	var companies []string
	for _, h := range heads {
		companies = append(companies, h.Company)
	}
	companies = append(companies, "") // the audit lines of no company
	book, operators, total := ledger.New(d, clock.System{}), operator.New(d, nil, clock.System{}), 0
	for _, company := range companies {
		n, err := operators.Adopt(ctx, book, local(), company, func(int) {})
		if err != nil {
			return fmt.Errorf("not everything is signed, run the command again: %w", err)
		}
		total += n
	}
	if err := operators.EndAdoption(ctx); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%d companies, %d rows signed\n", len(heads), total)
	return nil
}
