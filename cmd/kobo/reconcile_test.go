package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
)

// Each break is printed with the id of its case, for kobo case show, and what became
// of it.
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
	const about = "  UNKNOWN_DEBIT  company house  bank/x\n    bank 5.00, book 0.00: why\n    case c-1: "
	want := "bank since 2030-01-02T03:04:05.000Z: 3 lines, 0 operations, 0 credits, 3 breaks, 1 of them decided\n" +
		about + "open since 2030-01-02T03:04:05.000Z\n" +
		about + "open since 2030-01-02T03:04:05.000Z; ada proposes dismissed: seen\n" +
		about + "dismissed by ada and local:bob on 2030-01-02T04:04:05.000Z: seen\n"
	if out.String() != want || r.Undecided() != 2 {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
