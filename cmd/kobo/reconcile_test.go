package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The command prints each break with the id and the state of its case. An operator passes the id to
// kobo case show.
func TestBreaksArePrintedWithTheirCases(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	one := func(c operation.Case) report.Break {
		c.ID, c.CreatedAt, c.UpdatedAt = "c-1", at, at.Add(time.Hour)
		return report.Break{Reason: operation.UnknownDebit, Company: "house", Subject: "bank/x", Bank: 500, Detail: "why", Case: c}
	}
	proposed := operation.Case{State: operation.Open, Finding: operation.Finding{Outcome: operation.Dismissed}, Note: "seen", ProposedBy: "ada"}
	done := proposed
	done.State, done.ResolvedBy = operation.Resolved, "local:bob"
	r := report.Reconciliation{Bank: "bank", From: at, Lines: 3, Breaks: []report.Break{one(operation.Case{State: operation.Open}), one(proposed), one(done)}}
	var out bytes.Buffer
	printBreaks(&out, r)
	const about = "  UNKNOWN_DEBIT  company house  bank/x\n    bank 5.00, ledger 0.00: why\n    case c-1: "
	want := "bank since 2030-01-02T03:04:05.000Z: 3 lines, 0 operations, 0 credits, 3 breaks, 1 of them decided\n" +
		about + "open since 2030-01-02T03:04:05.000Z\n" +
		about + "open since 2030-01-02T03:04:05.000Z; ada proposes dismissed: seen\n" +
		about + "dismissed by ada and local:bob on 2030-01-02T04:04:05.000Z: seen\n"
	if out.String() != want || r.Undecided() != 2 {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// reconciled runs kobo reconcile while the program serves. It returns the output and the error of
// the command.
func reconciled(t *testing.T, p *apptest.Program) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := &cobra.Command{}
	c.SetContext(t.Context())
	c.SetOut(&out)
	err := reconcile(c, p.App, 3)
	return out.String(), err
}

// A break that an earlier comparison found may be too old for the period of this comparison. kobo
// reconcile still lists it, and fails until operators have decided its case.
func TestAnOldBreakFailsReconcileUntilItIsDecided(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			p := apptest.Start(t, dialect)
			if out, err := reconciled(t, p); err != nil {
				t.Fatalf("a new book: %v\n%s", err, out)
			}
			c, err := p.App.Settlements.Raise(t.Context(), operation.Case{
				Company: settlement.House, Subject: "safehaven/old", Reason: operation.UnknownDebit, Detail: "a debit of 5.00", Amount: 500,
			}, p.App.Clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := p.App.Settlements.Ask(t.Context(), "n-1", operation.Unreadable, "no break"); err != nil {
				t.Fatal(err)
			}
			now := p.App.Clock.(*clock.Movable)
			now.MoveTo(now.Offset() + 30*24*time.Hour)
			out, err := reconciled(t, p)
			want := "breaks of earlier comparisons to decide: 1\n" +
				"  UNKNOWN_DEBIT  company house  safehaven/old\n    bank less ledger 5.00: a debit of 5.00\n    case " + c.ID + ": open since "
			if err == nil || !strings.Contains(err.Error(), "breaks to decide: 1;") || !strings.Contains(out, want) {
				t.Errorf("%v\n%s", err, out)
			}
			for _, by := range []operator.Operator{operator.Local("ada"), operator.Local("bob")} {
				if _, err := p.App.Operations.ResolveCase(t.Context(), c.ID, operation.Finding{Outcome: operation.Dismissed}, "seen", by.Name, by.Note); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := reconciled(t, p); err != nil || strings.Contains(out, "earlier") {
				t.Errorf("decided: %v\n%s", err, out)
			}
		})
	}
}

// mute is a biller that never reports whether a sale was delivered.
type mute struct{ provider.Biller }

func (mute) Pay(context.Context, provider.Purchase) provider.Answer { return provider.Answer{} }

func (mute) Requery(context.Context, provider.Sale) provider.Answer { return provider.Answer{} }

// kobo reconcile lists money that is stuck in a clearing account, with a case for it. It opens that
// case itself if no poll of the provider has opened one.
func TestStuckMoneyIsListedWithItsCase(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			p := apptest.Start(t, dialect, apptest.Around(func(b provider.Biller) provider.Biller { return mute{b} }))
			bought := p.Bought(p.Buy(p.Order(p.Bundle(), "stuck", "00")))
			if _, err := p.App.DB.Exec(t.Context(), `DELETE FROM job WHERE company_id = $1 AND subject = $2`, p.Reference, bought.TransactionID); err != nil {
				t.Fatal(err)
			}
			now := p.App.Clock.(*clock.Movable)
			now.MoveTo(now.Offset() + 73*time.Hour)
			for range 2 {
				out, err := reconciled(t, p)
				cases, _, failed := p.App.Operations.Cases(t.Context(),
					operation.CaseFilter{State: operation.Open, Subject: bought.TransactionID, Reason: operation.Unresolved}, 10, 0)
				if failed != nil || len(cases) != 1 {
					t.Fatalf("%+v, %v", cases, failed)
				}
				if err == nil || !strings.Contains(out, bought.TransactionID) || !strings.Contains(out, "case "+cases[0].ID+": open since ") {
					t.Errorf("%v\n%s", err, out)
				}
			}
		})
	}
}
