package company_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// person returns what a person of the company presents.
func person(by company.Access, name string) company.Access {
	by.KeyID, by.Person = "", name
	return by
}

// Approve approves what waits. The first of two people who approve counts.
func (h *house) Approve(ctx context.Context, by company.Access, approvalID string) (company.Approval, *company.IssuedKey, error) {
	return h.Service.Approve(ctx, by, approvalID, func(context.Context, company.Approval) (bool, error) { return true, nil })
}

// issuesByTwo returns a new key of a company that requires two people.
func (h *house) issuesByTwo(by company.Access) secret.Text {
	h.t.Helper()
	asked, err := h.IssueOwnKey(h.t.Context(), person(by, "ada"), "", time.Time{}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	_, key, err := h.Approve(h.t.Context(), person(by, "bola"), asked.Waits.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return key.Text
}

// A company that requires two people gets no key, and loses none, until another person approves. The text of
// the key exists only in the answer of the approval.
func TestTwoPeopleIssueAndRevoke(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		actor := ada // an operator of the tests
		ada, bola := person(by, "ada"), person(by, "bola")
		if err := h.RequireTwoPeople(ctx, ada); err != nil {
			t.Fatal(err)
		}
		asked, err := h.IssueOwnKey(ctx, ada, "Shop", time.Time{}, nil)
		if err != nil || asked.Waits == nil || asked.Text.Reveal() != "" || h.working(by.Company) != 1 {
			t.Fatalf("%+v, %v", asked, err)
		}
		_, _, err = h.Approve(ctx, ada, asked.Waits.ID)
		refused(t, "the same person", err, fault.Forbidden, "Another person of the company must approve what you asked for")
		_, _, err = h.Approve(ctx, by, asked.Waits.ID)
		refused(t, "a program", err, fault.Forbidden, "Another person of the company must approve what you asked for")
		a, key, err := h.Approve(ctx, bola, asked.Waits.ID)
		if err != nil || key == nil || key.Name != "Shop" || a.DecidedBy != "person:bola" || h.working(by.Company) != 2 {
			t.Fatalf("%+v, %+v, %v", a, key, err)
		}
		h.logsIn(by.Company, key.Text.Reveal())
		_, _, err = h.Approve(ctx, bola, asked.Waits.ID)
		refused(t, "again", err, fault.Conflict, "The approval does not wait any more")

		waits, err := h.RevokeOwnKey(ctx, by, key.ID) // asked for by a program
		if err != nil || waits == nil || h.working(by.Company) != 2 {
			t.Fatalf("%+v, %v", waits, err)
		}
		first, _, err := h.Approve(ctx, ada, waits.ID)
		if err != nil || first.State != company.ApprovalWaiting || first.FirstBy != "person:ada" || h.working(by.Company) != 2 {
			t.Fatalf("one person has approved what a program asked for: %+v, %v", first, err)
		}
		_, _, err = h.Approve(ctx, ada, waits.ID)
		refused(t, "the same person twice", err, fault.Forbidden, "Another person of the company must approve what you asked for")
		if _, _, err := h.Approve(ctx, bola, waits.ID); err != nil || h.working(by.Company) != 1 {
			t.Fatal(err)
		}
		spare := h.logsIn(by.Company, h.issuesByTwo(by).Reveal())
		asked, err = h.IssueOwnKey(ctx, spare, "Late", time.Time{}, nil)
		if err != nil || asked.Waits == nil {
			t.Fatalf("%+v, %v", asked, err)
		}
		if _, _, err := h.Approve(ctx, ada, asked.Waits.ID); err != nil {
			t.Fatal(err)
		}
		if err := h.RevokeKey(ctx, actor, by.Company, spare.KeyID); err != nil {
			t.Fatal(err)
		}
		_, _, err = h.Approve(ctx, bola, asked.Waits.ID)
		refused(t, "asked by a revoked key", err, fault.Conflict, "Whoever asked for this has no access any more")
		_, err = h.RevokeOwnKey(ctx, ada, by.KeyID)
		refused(t, "the last key", err, fault.Refused, lastKey)
		for _, want := range []string{"company: company.two_people.on", "company: company.approval.ask", "company: company.approval.approve"} {
			if acts := h.noted(by.Company); !slices.Contains(acts, want) {
				t.Errorf("the audit log has no %q: %q", want, acts)
			}
		}
	})
}

// A program asks for a key, and the first person who approves is removed before the second one approves. The second one is then
// the first, and a third one approves.
func TestAFirstPersonWhoIsGoneDoesNotCount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		if err := h.RequireTwoPeople(ctx, person(by, "ada")); err != nil {
			t.Fatal(err)
		}
		_, err := h.IssueOwnKey(ctx, by, "Shop", time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), nil)
		refused(t, "no year of JSON", err, fault.Invalid, `"expiresAt" must be before the year 10000`)
		asked, err := h.IssueOwnKey(ctx, by, "Shop", time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gone, unknown := "", errors.New("nobody knows")
		approve := func(name string) (company.Approval, *company.IssuedKey, error) {
			return h.Service.Approve(ctx, person(by, name), asked.Waits.ID, func(_ context.Context, a company.Approval) (bool, error) {
				if gone == "?" {
					return true, unknown
				}
				return a.FirstBy != "person:"+gone, nil
			})
		}
		for _, name := range []string{"ada", "bola", "ada"} { // the last one is a new person of the name
			a, key, err := approve(name)
			if err != nil || key != nil || a.State != company.ApprovalWaiting || a.FirstBy != "person:"+name || h.working(by.Company) != 1 {
				t.Fatalf("%s: %+v, %v", name, a, err)
			}
			gone = name
		}
		gone = "?"
		if _, _, err := approve("chika"); !errors.Is(err, unknown) || h.working(by.Company) != 1 {
			t.Errorf("without an answer: %v", err)
		}
		gone = ""
		if a, key, err := approve("chika"); err != nil || key == nil || a.FirstBy != "person:ada" || a.DecidedBy != "person:chika" || h.working(by.Company) != 2 {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// An approval that nobody decides dies, and one that somebody has ended never happens. The rule itself ends by two
// people only.
func TestAnApprovalEnds(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada, bola := person(by, "ada"), person(by, "bola")
		if err := h.RequireTwoPeople(ctx, ada); err != nil {
			t.Fatal(err)
		}
		for what, end := range map[string]func(id string){
			company.ApprovalExpired: func(string) { h.clock.Advance(24 * time.Hour) },
			company.ApprovalRejected: func(id string) {
				if a, err := h.Reject(ctx, bola, id); err != nil || a.State != company.ApprovalRejected {
					t.Errorf("%+v, %v", a, err)
				}
			},
			company.ApprovalWithdrawn: func(id string) {
				if a, err := h.Reject(ctx, ada, id); err != nil || a.State != company.ApprovalWithdrawn {
					t.Errorf("%+v, %v", a, err)
				}
			},
		} {
			asked, err := h.IssueOwnKey(ctx, ada, what, time.Time{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			end(asked.Waits.ID)
			_, _, err = h.Approve(ctx, bola, asked.Waits.ID)
			refused(t, what, err, fault.Conflict, "The approval does not wait any more")
			if a, err := h.Approval(ctx, by.Company, asked.Waits.ID); err != nil || a.Status(h.clock.Now()) != what {
				t.Errorf("%s: %+v, %v", what, a, err)
			}
		}
		if open, total, err := h.Approvals(ctx, by.Company, true, 0, 10); err != nil || len(open)+total != 0 || h.working(by.Company) != 1 {
			t.Errorf("%+v, %d, %v", open, total, err)
		}
		off, err := h.WaiveTwoPeople(ctx, ada)
		if err != nil {
			t.Fatal(err)
		}
		if on, err := h.TwoPeople(ctx, by.Company); err != nil || !on {
			t.Errorf("one person has ended the rule: %v", err)
		}
		if _, _, err := h.Approve(ctx, bola, off.ID); err != nil {
			t.Fatal(err)
		}
		if asked, err := h.IssueOwnKey(ctx, ada, "alone", time.Time{}, nil); err != nil || asked.Waits != nil || asked.Text.Reveal() == "" {
			t.Errorf("%+v, %v", asked, err)
		}
		_, err = h.Approval(ctx, "caaaaaaaaaaaaaaaaaaaaaaaa", off.ID)
		refused(t, "another company's", err, fault.Missing, "Approval not found")
	})
}

// Who can only write the database makes no approval, and does not switch a rule off: neither by another state nor without
// the row. The counter of the rule's changes shows that there was a row.
func TestAWriterOfTheDatabaseDecidesNothing(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada, bola := person(by, "ada"), person(by, "bola")
		if err := h.RequireTwoPeople(ctx, ada); err != nil {
			t.Fatal(err)
		}
		asked, err := h.IssueOwnKey(ctx, bola, "Thief", time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.db.Exec(ctx, `UPDATE company_approval SET asked_by = 'person:ada' WHERE company_id = $1`, by.Company); err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.Approve(ctx, bola, asked.Waits.ID); err == nil || h.working(by.Company) != 1 {
			t.Errorf("an altered approval was approved by the person who asked: %v", err)
		}
		if _, err := h.db.Exec(ctx, `UPDATE company_rule SET state = 'OFF' WHERE company_id = $1`, by.Company); err != nil {
			t.Fatal(err)
		}
		if got, err := h.IssueOwnKey(ctx, ada, "alone", time.Time{}, nil); err == nil || h.working(by.Company) != 1 {
			t.Errorf("an altered rule lets one person issue a key: %+v", got)
		}
		if _, err := h.SetPayoutRule(ctx, ada, company.PayoutRule{On: true, Least: 100}); err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{`DELETE FROM company_rule WHERE company_id = $1`, `DELETE FROM company_payout_rule WHERE company_id = $1`} {
			if _, err := h.db.Exec(ctx, gone, by.Company); err != nil {
				t.Fatal(err)
			}
		}
		_, err = h.IssueOwnKey(ctx, ada, "alone", time.Time{}, nil)
		refused(t, "a key without the row of the rule", err, fault.Unavailable, "Service temporarily unavailable")
		_, err = h.PayoutWaits(ctx, by.Company, 100)
		refused(t, "a payout without the row of the rule", err, fault.Unavailable, "Service temporarily unavailable")
		if h.working(by.Company) != 1 {
			t.Error("one person has issued a key")
		}
	})
}

// An earlier program did not count the changes of the rule about two people. The first read counts it, so from then on
// nobody switches the rule off by deleting its row.
func TestTheRuleOfAnEarlierProgramIsMissedToo(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada := person(by, "ada")
		if err := h.RequireTwoPeople(ctx, ada); err != nil {
			t.Fatal(err)
		}
		if n, err := h.db.Exec(ctx, `DELETE FROM ledger_counter WHERE company_id = $1 AND name = 'two-people'`, by.Company); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		for range 2 {
			if on, err := h.TwoPeople(ctx, by.Company); !on || err != nil {
				t.Fatal(on, err)
			}
		}
		if _, err := h.db.Exec(ctx, `DELETE FROM company_rule WHERE company_id = $1`, by.Company); err != nil {
			t.Fatal(err)
		}
		_, err := h.TwoPeople(ctx, by.Company)
		refused(t, "the rule without its row", err, fault.Unavailable, "Service temporarily unavailable")
	})
}

// A thief of a key and of the PIN cannot use up what people need: each of them and each key has a number of
// requests of its own that wait.
func TestAFloodOfRequestsStopsNobodyElse(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada := person(by, "ada")
		if err := h.RequireTwoPeople(ctx, ada); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := h.IssueOwnKey(ctx, by, "", time.Time{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		_, err := h.IssueOwnKey(ctx, by, "", time.Time{}, nil)
		refused(t, "the eleventh", err, fault.Refused, "10 of your requests wait already")
		if _, err := h.WaiveTwoPeople(ctx, ada); err != nil {
			t.Errorf("a person cannot ask any more: %v", err)
		}
	})
}

// An index that has nothing else finds the approvals that wait, however much was decided on the same day.
func TestWhatWaitsIsReadByItsIndex(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		dbtest.OneServer(t, h.db)
		by, _ := h.owner()
		var decided []db.Record
		for n := range 3_000 {
			decided = append(decided, company.DecidedApproval(by.Company, fmt.Sprint(n), h.clock.Now()))
		}
		if err := h.db.Insert(t.Context(), decided...); err != nil {
			t.Fatal(err)
		}
		if err := h.RequireTwoPeople(t.Context(), person(by, "ada")); err != nil {
			t.Fatal(err)
		}
		asked, err := h.IssueOwnKey(t.Context(), person(by, "ada"), "Shop", time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		with, columns := "EXPLAIN QUERY PLAN ", 4
		if h.db.Dialect() == db.Postgres { // Kobo gathers no statistics in SQLite
			with, columns = "EXPLAIN ", 1
			if _, err := h.db.Exec(t.Context(), "ANALYZE company_approval"); err != nil {
				t.Fatal(err)
			}
		}
		line := func(s db.Scanner) (text string, err error) {
			var n int64
			return text, s.Scan([]any{&n, &n, &n, &text}[4-columns:]...)
		}
		for query, more := range company.WaitingQueries() {
			args := append([]any{by.Company, clock.Micros(h.clock.Now().Add(-24 * time.Hour))}, more...)
			plan, err := db.All(t.Context(), h.db, line, with+query, args...)
			if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "company_approval_waiting") {
				t.Errorf("%s is read by\n%s, %v", query, text, err)
			}
		}
		all, total, err := h.Approvals(t.Context(), by.Company, false, 0, 10)
		if err != nil || total != 3_001 || len(all) != 10 {
			t.Errorf("%d of %d, %v", len(all), total, err)
		}
		waiting, total, err := h.Approvals(t.Context(), by.Company, true, 0, 10)
		if err != nil || total != 1 || len(waiting) != 1 || waiting[0].ID != asked.Waits.ID {
			t.Errorf("%d, %+v, %v", total, waiting, err)
		}
	})
}
