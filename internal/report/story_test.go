package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// told adds an event about a reference, with a delivery that failed, and returns the id of the event.
func (w *world) told(reference string) string {
	w.t.Helper()
	u := ledger.For(w.company)
	event.Emit(&u, "payout.pending", map[string]string{"reference": reference})
	must(w.t, w.book.Commit(w.t.Context(), u))
	eventID, err := db.One(w.t.Context(), w.db, db.Value[string],
		`SELECT id FROM event WHERE company_id = $1 ORDER BY sequence DESC LIMIT 1`, w.company)
	must(w.t, err)
	_, err = w.db.Exec(w.t.Context(), `INSERT INTO webhook_endpoint (company_id, id, url, description, kinds, state, secret, old_secret, old_until,
		failures, failed_at, created_at, updated_at) VALUES ($1, $2, 'https://example.com', '', '[]', 'ACTIVE', '', '', 0, 0, 0, 0, 0)`, w.company, "hook-"+eventID)
	must(w.t, err)
	_, err = w.db.Exec(w.t.Context(), `INSERT INTO webhook_delivery (company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status,
		latency_ms, excerpt, trouble, next_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'payout.pending', 1, 'PENDING', 2, 503, 12, '', 'status 503', 0, $5, $5)`,
		w.company, "sent-"+eventID, "hook-"+eventID, eventID, w.clock.Now().UnixMicro())
	must(w.t, err)
	return eventID
}

// The story of a payout without an outcome has its money, its clock, its event and the delivery of
// the event. The id of the event leads to the same story.
func TestAReferenceHasAStory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Unknown, operation.Labels{ExternalReference: "order-17"}, false)
		paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
		must(t, err)
		reference := paid[0].Reference
		eventID := w.told(reference)

		y, err := w.Timeline(t.Context(), reference)
		must(t, err)
		if y.Kind != payout.Kind || y.Company != w.company || y.State != "PENDING" || y.Word != "unknown" || y.Amount != 100_00 || y.Fee != 10_00 ||
			y.OwnReference != "order-17" || y.Counterparty != "ADA OBI, ******6789, " {
			t.Errorf("%+v", y)
		}
		if c := y.Clock; c == nil || !c.GraceEndsAt.Equal(y.CreatedAt.Add(15*time.Minute)) || c.NextAt.IsZero() || c.CaseDueAt.Before(y.CreatedAt.Add(72*time.Hour)) {
			t.Errorf("the clock: %+v", c)
		}
		var lanes []string
		for _, s := range y.Steps {
			lanes = append(lanes, s.Lane())
			if s.Transfer != nil && s.Transfer.Amount == 110_00 && (s.Transfer.DebitLeft != 890_00 || s.Transfer.CreditThere != 110_00) {
				t.Errorf("%+v", s.Transfer)
			}
		}
		if !slices.IsSortedFunc(y.Steps, func(a, b report.Step) int { return a.At.Compare(b.At) }) {
			t.Errorf("not in the order of time: %+v", y.Steps)
		}
		for _, lane := range []string{"request", "money", "provider", "told"} {
			if !slices.Contains(lanes, lane) {
				t.Errorf("no step of %s: %+v", lane, y.Steps)
			}
		}
		if all := texts(y); !strings.Contains(all, "payout.pending, number") || !strings.Contains(all, "PENDING, 2 attempts, last status 503") {
			t.Errorf("not told: %s", all)
		}
		by, err := w.Timeline(t.Context(), eventID)
		if err != nil || by.Reference != reference || texts(by) != texts(y) {
			t.Errorf("by its event: %+v, %v", by, err)
		}
	})
}

// The story has each attempt of a delivery at its time. Equal failures in a row are one step.
// A page of a rare state looks at a bounded number of deliveries, and the next one goes on there.
func TestDeliveriesOfARareStateAreFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := d.Exec(t.Context(), `INSERT INTO webhook_endpoint (company_id, id, url, description, kinds, state, secret, old_secret, old_until,
			failures, failed_at, created_at, updated_at) VALUES ($1, 'h', 'https://example.com', '', '[]', 'ACTIVE', '', '', 0, 0, 0, 0, 0)`, w.company)
		must(t, err)
		delivery := func(i int) string { return fmt.Sprintf("01900000-0000-7000-8000-000000000%03d", i) }
		for i := range 120 {
			state := "DELIVERED"
			if i == 3 || i >= 110 {
				state = "FAILED"
			}
			_, err := d.Exec(t.Context(), `INSERT INTO webhook_delivery (company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status,
				latency_ms, excerpt, trouble, next_at, created_at, updated_at) VALUES ($1, $2, 'h', 'e', 'payout.pending', 1, $3, 1, 500, 1, '', '', 0, 1, 1)`,
				w.company, delivery(i), state)
			must(t, err)
		}
		for _, c := range []struct {
			state string
			look  int64
			want  string
		}{
			{"FAILED", 60, "10 to 060, 1 to 000, 0 to "},
			{"PENDING", 60, "0 to 060, 0 to 000, 0 to "},
			{"DELIVERED", 70, "50 to 060, 50 to 010, 9 to "},
			{"FAILED", 70, "10 to 050, 1 to "},
		} {
			w.LookAt(c.look)
			var pages []string
			for after := ""; ; {
				p, err := w.Deliveries(t.Context(), w.company, c.state, after)
				must(t, err)
				pages = append(pages, fmt.Sprintf("%d to %s", len(p.Rows), p.Next[max(len(p.Next)-3, 0):]))
				if after = p.Next; after == "" {
					break
				}
			}
			if got := strings.Join(pages, ", "); got != c.want {
				t.Errorf("%s: %s, not %s", c.state, got, c.want)
			}
		}
	})
}

func TestAStoryHasTheAttemptsOfDeliveries(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		reference := w.pay(w.main, 100_00, 0, provider.Confirmed, "rent")
		eventID := w.told(reference)
		at := w.clock.Now()
		for i, trouble := range []string{"status 500", "status 503", "status 503", "status 503", "no answer from 08031234567"} {
			_, err := w.db.Exec(t.Context(), `INSERT INTO webhook_attempt (company_id, delivery_id, attempt, status, latency_ms, response, trouble, created_at)
				VALUES ($1, $2, $3, $4, 12, 'private words', $5, $6)`, w.company, "sent-"+eventID, i+1, 500*min(int64(4-i), 1), trouble,
				at.Add(time.Duration(i-5)*time.Millisecond).UnixMicro())
			must(t, err)
		}
		_, err := w.db.Exec(t.Context(), `UPDATE webhook_delivery SET attempts = 6, status = 204, trouble = '', state = 'DELIVERED'
			WHERE company_id = $1 AND id = $2`, w.company, "sent-"+eventID)
		must(t, err)
		y, err := w.Timeline(t.Context(), reference)
		must(t, err)
		var got []string
		for _, s := range y.Steps {
			if s.What == "delivery" {
				_, words, _ := strings.Cut(s.Text, ": ")
				got = append(got, words+" | "+at.Sub(s.At).String())
			}
		}
		second := at.Add(-2 * time.Millisecond).UTC().Format("15:04:05.000")
		if len(got) != 4 || got[0] != "attempt 1 failed, status 500, status 500, after 12 ms | 5ms" ||
			!strings.HasPrefix(got[1], "attempts 2 to 4 failed alike, status 500, status 503, the last at ") || !strings.Contains(got[1], second) ||
			!strings.HasSuffix(got[1], " | 4ms") || got[2] != "attempt 5 failed, no answer from *******4567, after 12 ms | 1ms" ||
			got[3] != "DELIVERED, 6 attempts, last status 204, after 12 ms | 0s" || strings.Contains(texts(y), "private") {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	})
}

func texts(y report.Story) (all string) {
	for _, s := range y.Steps {
		all += s.Text + "\n"
	}
	return all
}

// Each state has a word that says where the money is. A decided payout has no clock.
func TestAStorySaysWhereTheMoneyIs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		for outcome, want := range map[provider.Outcome]string{provider.Confirmed: "paid", provider.Rejected: "failed", provider.Unknown: "unknown"} {
			reference := w.pay(w.main, 100_00, 0, outcome, "rent")
			y, err := w.Timeline(t.Context(), reference)
			if err != nil || y.Word != want || y.Reference != reference || (y.Clock != nil) != (want == "unknown") {
				t.Errorf("%v: %+v, %v", outcome, y, err)
			}
		}
		o := w.operations.Start(operation.Operation{Company: w.company, Kind: "payout", Provider: "bank", SettlementID: w.main, Amount: 100_00})
		must(t, w.book.Commit(t.Context(), w.operations.Unit(o, 0, "rent")))
		if y, err := w.Timeline(t.Context(), o.ID); err != nil || y.Word != "sending" {
			t.Errorf("%+v, %v", y, err)
		}
		for _, unknown := range []string{"", "nothing", strings.Repeat("9", 30)} {
			if _, err := w.Timeline(t.Context(), unknown); !fault.Is(err, fault.Missing) {
				t.Errorf("%q: %v", unknown, err)
			}
		}
	})
}

// Money that came in, an adjustment, a transfer and a case each have a story. The session ID of money
// that came in leads to its story, and so does the id of a case about it.
func TestOtherReferencesHaveStories(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		now := w.clock.Now().UnixMicro()
		for _, row := range []string{
			`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until) VALUES ($1, 'bank', $2, $2, 0, 0)`,
			`INSERT INTO settlement_session (provider, session_id, company_id) SELECT 'bank', 's-1', CAST($1 AS TEXT) WHERE CAST($2 AS BIGINT) > 0`,
			`INSERT INTO settlement_credit (company_id, id, session_id, provider, account_number, settlement_id, amount_kobo, sender_name, sender_account,
				sender_bank, narration, reference, told_at, created_at) VALUES ($1, 'credit-1', 's-1', 'bank', '0123456789', 0, 500, 'ADA', '0123456789', 'GTB', '', '', $2, $2)`,
			`INSERT INTO settlement_adjustment (company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note, created_at, decided_at)
				VALUES ($1, 'adjustment-1', 1, 600, 'credit', 'why', 'PENDING', 'ada', '', '', $2, 0),
				($1, 'adjustment-2', 1, 600, 'credit', 'why', 'REJECTED', 'ada', 'ada', 'wrong account', $2, $2), ($1, 'adjustment-3', 1, 600, 'credit', 'why', 'REJECTED', 'ada', 'bob', 'no', $2, $2)`,
			`INSERT INTO settlement_transfer (company_id, id, from_id, to_id, amount_kobo, created_at) VALUES ($1, 'transfer-1', 1, 2, 700, $2)`,
			`INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement,
				proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
				VALUES ($1, 'case-1', 'bank/s-1', 'SUSPENSE', 0, 'to 0123456789', 0, 'OPEN', '', '', '', 0, '', '', 0, 0, $2, $2)`,
			`INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement,
				proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
				VALUES ($1, 'case-2', 'bank/s-2', 'BREAK', 0, 'the bank has more', 800, 'OPEN', '', '', '', 0, '', '', 0, 0, $2, $2)`,
			`INSERT INTO operator_proposal (id, company, acts, state, proposed_by, decided_by, note, created_at, expires_at, decided_at)
				VALUES ('proposal-1', $1, '[]', 'REJECTED', 'ada', 'bob', 'no', $2, $2, $2)`,
		} {
			_, err := w.db.Exec(t.Context(), row, w.company, now)
			must(t, err)
		}
		for reference, want := range map[string]string{
			"credit-1": "credit SUSPENSE 5.00", "s-1": "credit SUSPENSE 5.00", "case-1": "credit SUSPENSE 5.00",
			"adjustment-1": "adjustment PENDING 6.00", "adjustment-2": "adjustment WITHDRAWN 6.00", "adjustment-3": "adjustment REJECTED 6.00",
			"transfer-1": "transfer SUCCESS 7.00", "case-2": "case OPEN 8.00", "proposal-1": "proposal REJECTED 0.00",
		} {
			y, err := w.Timeline(t.Context(), reference)
			if err != nil || y.Kind+" "+y.State+" "+y.Amount.Decimal() != want || y.Company != w.company || len(y.Steps) == 0 || strings.Contains(texts(y), "0123456789") {
				t.Errorf("%s: %+v, %v", reference, y, err)
			}
			if want := "ADA, ******6789, GTB"; y.Kind == "credit" && y.Counterparty != want {
				t.Errorf("%s comes from %q, want %q", reference, y.Counterparty, want)
			}
			if withCase := strings.HasPrefix(want, "c"); withCase != (len(y.Cases) == 1) {
				t.Errorf("%s: %d cases", reference, len(y.Cases))
			}
		}
		for word, want := range map[string]string{"waiting": "adjustment-1", "withdrawn": "adjustment-2", "rejected": "adjustment-3"} {
			if list := w.every(report.PaymentFilter{Word: word}); len(list) != 1 || list[0].Reference != want || list[0].Word != word {
				t.Errorf("%s: %+v", word, list)
			}
		}
		_, err := w.db.Exec(t.Context(), `INSERT INTO payout_bank (provider, code, name, active, updated_at) VALUES ('bank', 'GTB', 'Guaranty Trust Bank', 1, 0)`)
		must(t, err)
		for sender, want := range map[string]string{
			`'ADA', '0123456789', 'GTB'`: "ADA, ******6789, Guaranty Trust Bank (GTB)", `'ADA', '', 'GTB'`: "ADA, Guaranty Trust Bank (GTB)",
			`'', '0123456789', 'GTB'`: "******6789, Guaranty Trust Bank (GTB)", `'', '', 'GTB'`: "Guaranty Trust Bank (GTB)", `'ADA', '', ''`: "ADA", `'', '', ''`: "",
		} {
			_, err := w.db.Exec(t.Context(), `UPDATE settlement_credit SET (sender_name, sender_account, sender_bank) = (`+sender+`) WHERE company_id = $1`, w.company)
			must(t, err)
			if y, err := w.Timeline(t.Context(), "credit-1"); err != nil || y.Counterparty != want {
				t.Errorf("%s: %q, %v", sender, y.Counterparty, err)
			}
		}
		// Operators have assigned the money of a case that had no credit: the story leads to the company's one.
		_, err = w.db.Exec(t.Context(), `DELETE FROM operation_case WHERE company_id = $1 AND id = 'case-2'`, w.company)
		must(t, err)
		_, err = w.db.Exec(t.Context(), `INSERT INTO operation_case VALUES ('house', 'case-2', 'bank/s-1', 'BREAK', 0, 'the bank has more', 800, 'RESOLVED', 'assigned', '', $1, 1, '', '', 0, 0, $2, $2, '')`,
			w.company, now)
		must(t, err)
		_, err = w.db.Exec(t.Context(), `INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ('house', 0, 0) ON CONFLICT DO NOTHING`)
		must(t, err)
		if y, err := w.Timeline(t.Context(), "case-2"); err != nil || y.Kind != "case" || y.AssignedTo != "credit-1" {
			t.Errorf("%+v, %v", y, err)
		}
	})
}

// A company reads the story of its own payment, without what operators did and what providers cost. It reads
// nothing of another company.
func TestACompanyReadsItsOwnStory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		reference := w.pay(w.main, 100_00, 0, provider.Unknown, "rent")
		now := w.clock.Now().UnixMicro()
		for _, row := range []string{
			`INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement,
				proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
				VALUES ($1, 'case-1', $2, 'UNRESOLVED', 0, 'ask grace of the bank', 0, 'OPEN', '', '', '', 0, '', '', 0, 0, $3, $3)`,
			`INSERT INTO operator_audit (company_id, id, operator, action, subject, details, created_at, leaf, mac) VALUES ($1, 'audit-1', 'grace', 'case.proposed', $2, '{}', $3, 0, '')`,
		} {
			_, err := w.db.Exec(t.Context(), row, w.company, reference, now)
			must(t, err)
		}
		all, err := w.Timeline(t.Context(), reference)
		must(t, err)
		own, err := w.OwnTimeline(t.Context(), w.company, reference)
		must(t, err)
		if !strings.Contains(texts(all), "grace") || !strings.Contains(texts(all), "by "+all.Provider) {
			t.Errorf("the operators' story: %s", texts(all))
		}
		said := texts(own)
		for _, hidden := range []string{"grace", "by " + all.Provider, "provider/"} {
			if strings.Contains(said, hidden) {
				t.Errorf("the company reads %q: %s", hidden, said)
			}
		}
		if own.Reference != reference || own.Cases != nil || own.Counterparty != "" || !strings.Contains(said, "UNRESOLVED") || !strings.Contains(said, "first call: unknown") ||
			!slices.ContainsFunc(own.Steps, func(s report.Step) bool { return s.Transfer != nil && s.Transfer.Amount == 100_00 }) {
			t.Errorf("%+v", own)
		}
		for _, of := range [][2]string{{"another", reference}, {w.company, "nothing"}, {w.company, ""}, {w.company, "case-1"}, {w.company, w.company + "-7"}} {
			if y, err := w.OwnTimeline(t.Context(), of[0], of[1]); !fault.Is(err, fault.Missing) || y.Steps != nil {
				t.Errorf("%q: %+v, %v", of, y, err)
			}
		}
	})
}
