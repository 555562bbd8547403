package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// plantCase adds a case about a subject, at a second of the clock.
func (w *world) plantCase(company, id, subject, state, outcome string, second int64) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
		target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
		VALUES ($1, $2, $3, 'UNKNOWN_DEBIT', $4, 'a debit that nothing of ours asked for', 800, $5, $6, '', CASE WHEN $6 = '' THEN '' ELSE $7 END, 0, '', '', 0, 0, $8, $8)`,
		company, id, subject, second, state, outcome, w.company, second*1_000_000)
	must(w.t, err)
}

// plantBanks adds banks whose credits are polled, and the ledger of the house.
func (w *world) plantBanks(names ...string) {
	w.t.Helper()
	for _, name := range names {
		_, err := w.db.Exec(w.t.Context(), `INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until) VALUES ('house', $1, 1, 1, 0, 0)`, name)
		must(w.t, err)
	}
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ('house', 0, 0) ON CONFLICT DO NOTHING`)
	must(w.t, err)
}

// plantCredit adds a credit of a bank's session. A credit without a settlement account is in suspense.
func (w *world) plantCredit(company, id, session string, account int64) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO settlement_credit (company_id, id, provider, session_id, reference, settlement_id, account_number, amount_kobo,
		sender_name, sender_account, sender_bank, narration, told_at, created_at) VALUES ($1, $2, 'bank', $3, '', $4, '0123456789', 700, 'OBI', '', '', '', 1, 1)`,
		company, id, session, account)
	must(w.t, err)
}

// A line that only the bank's statement has is found by the bank's reference, with the name of the bank before it and without. Its case is
// the house's or a company's, open or resolved. The reference leads to the story of the case, unless something of ours has it.
func TestABanksReferenceLeadsToItsCase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		paid := w.pay(w.main, 100_00, 0, provider.Confirmed, "rent")
		w.plantBanks("bank", "other")
		const card = "0199c1f2-7b1e-7c0a-9d3e-00000000000d"
		missing, known := strings.Repeat("9", 30), strings.Repeat("9", 29)+"8"
		w.plantCase("house", "case-missing", "bank/"+missing, "OPEN", "", 1)
		w.plantCase("house", "case-debit", "bank/odd-debit-7", "OPEN", "", 2)
		w.plantCase("house", "case-earlier", "bank/odd-debit-7", "RESOLVED", "dismissed", 3)
		w.plantCase(w.company, "case-other", "other/777001", "RESOLVED", "dismissed", 4)
		w.plantCase(w.company, "case-broken", "settlement/1", "OPEN", "", 5)
		w.plantCase(w.company, "case-card", card, "OPEN", "", 6)
		w.plantCase(w.company, "case-paid", paid, "OPEN", "", 7)
		w.plantCase(w.company, "case-credit", "bank/"+known, "OPEN", "", 8)
		w.plantCredit(w.company, "credit-1", known, w.main)
		_, err := d.Exec(t.Context(), `INSERT INTO settlement_session (provider, session_id, company_id) VALUES ('bank', $1, $2)`, known, w.company)
		must(t, err)

		both := []string{"case case-debit", "case case-earlier"}
		for text, want := range map[string][]string{
			missing: {"case case-missing"}, "bank/" + missing: {"case case-missing"}, "other/" + missing: nil, missing[:29] + "7": nil,
			"odd-debit-7": both, "bank/odd-debit-7": both, "other/odd-debit-7": nil, "odd-debit": nil,
			"777001": {"case case-other"}, "other/777001": {"case case-other"}, "settlement/1": {"case case-broken"}, card: {"case case-card"},
			paid: {"payout " + paid}, known: {"credit credit-1"}, "bank/" + known: {"case case-credit"},
		} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
			if asked := report.Ask(text); asked.As != "an ID of Kobo" && !slices.Contains(asked.Where, "cases") {
				t.Errorf("%q is looked for among %v", text, asked.Where)
			}
		}
		for reference, want := range map[string]string{
			missing: "case case-missing", "bank/" + missing: "case case-missing", "odd-debit-7": "case case-debit", "bank/odd-debit-7": "case case-debit",
			"777001": "case case-other", card: "case case-card", paid: "payout " + paid, known: "credit credit-1", "bank/" + known: "credit credit-1",
		} {
			if y, err := w.Timeline(t.Context(), reference); err != nil || y.Kind+" "+y.Reference != want || len(y.Cases) == 0 {
				t.Errorf("%q leads to %s %s with %d cases, want %s: %v", reference, y.Kind, y.Reference, len(y.Cases), want, err)
			}
		}
		for _, reference := range []string{"other/odd-debit-7", "odd-debit", missing[:29] + "7"} {
			if _, err := w.Timeline(t.Context(), reference); !fault.Is(err, fault.Missing) {
				t.Errorf("%q: %v", reference, err)
			}
		}
	})
}

// Operators have assigned a credit of an unknown owner to a company. The session is still the house's, and the company finds its credit by
// it. Operators find the house's credit, whose story names the company's.
func TestAssignedMoneyIsFoundByItsSession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.plantBanks("bank")
		session := strings.Repeat("9", 30)
		_, err := d.Exec(t.Context(), `INSERT INTO settlement_session (provider, session_id, company_id) VALUES ('bank', $1, 'house')`, session)
		must(t, err)
		w.plantCredit("house", "credit-house", session, 0)
		w.plantCredit(w.company, "credit-own", session, w.main)
		w.plantCase("house", "case-1", "bank/"+session, "RESOLVED", "assigned", 1)
		for company, want := range map[string]string{w.company: "credit credit-own", "another": ""} {
			hits, more, err := w.SearchOwn(t.Context(), company, report.AskOwn(session))
			got := ""
			for _, h := range hits {
				got += h.Kind + " " + h.ID
			}
			if err != nil || more || got != want {
				t.Errorf("%s finds %q, want %q; %v, %v", company, got, want, more, err)
			}
		}
		if got := w.found(session); !slices.Equal(got, []string{"credit credit-house"}) {
			t.Error(got)
		}
		if y, err := w.Timeline(t.Context(), session); err != nil || y.Reference != "credit-house" || y.AssignedTo != "credit-own" {
			t.Errorf("%s, assigned to %q: %v", y.Reference, y.AssignedTo, err)
		}
	})
}
