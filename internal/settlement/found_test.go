package settlement_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// found30 is a session ID in the format that banks use between each other (30 digits).
const found30 = "000013300102030405000000000001"

// finds opens a case about a credit that only the bank's statement has.
func (h *house) finds(company, name string, amount money.Kobo) operation.Case {
	h.t.Helper()
	if err := h.Ask(h.t.Context(), "the house", operation.Unreadable, "so that the house has a ledger"); err != nil {
		h.t.Fatal(err)
	}
	c, err := h.operations.Raise(h.t.Context(), operation.Case{
		Company: company, Subject: bank + "/" + name, Reason: operation.MissingCredit, Detail: "a credit that is in no ledger",
		Amount: amount, HappenedAt: h.clock.Now().Add(-time.Hour),
	}, h.clock.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// find submits one operator's finding about a case.
func (h *house) find(c operation.Case, by string, f operation.Finding) (operation.Case, error) {
	who := operator.Local(by)
	return h.operations.ResolveCase(h.t.Context(), c.ID, f, "the bank says so", who.Name, who.Note)
}

func (h *house) refuses(c operation.Case, by string, f operation.Finding, says string) {
	h.t.Helper()
	if _, err := h.find(c, by, f); !strings.Contains(fmt.Sprint(err), says) || !fault.Is(err, fault.Refused) {
		h.t.Errorf("refused with %v, not %q", err, says)
	}
}

// agrees submits the same finding for two operators.
func (h *house) agrees(c operation.Case, f operation.Finding) {
	h.t.Helper()
	for _, by := range []string{"ada", "bob"} {
		if _, err := h.find(c, by, f); err != nil {
			h.t.Fatalf("%s: %v", by, err)
		}
	}
}

// assigns runs the AssignJob of a case twice, as it may run after a crash.
func (h *house) assigns(c operation.Case) {
	h.t.Helper()
	for range 2 {
		if next, err := h.Assign(h.t.Context(), job.Job{Company: settlement.House, Subject: c.ID}); err != nil || !next.IsZero() {
			h.t.Fatalf("%v, %v", next, err)
		}
	}
}

func theirs(a settlement.Account) operation.Finding {
	return operation.Finding{Outcome: operation.Assigned, Target: a.Company, TargetID: a.ID}
}

// A credit that only the statement has is credited only once, however many notifications arrive
// later. Operators may choose a different account than the account in the notification.
func TestACreditOfTheStatementIsCreditedOnce(t *testing.T) {
	for _, told := range []string{"8000000011", "8000000012", "8000000099"} { // an account of this company, of another company, and an unknown account
		t.Run(told, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				a, other := h.fed("8000000011"), h.fed("8000000012")
				c := h.finds(settlement.House, found30, 700)
				if _, err := h.find(c, "ada", theirs(a)); err != nil {
					t.Fatal(err)
				}
				h.holds(a, 0)
				h.suspended(0)
				done, err := h.find(c, "bob", theirs(a))
				if err != nil || done.State != operation.Resolved || done.Outcome != operation.Assigned {
					t.Fatalf("%+v, %v", done, err)
				}
				h.receives(h.inbound(found30, told, 700)) // before the AssignJob runs
				h.assigns(c)
				h.receives(h.inbound(found30, told, 700)) // after the AssignJob ran
				h.holds(a, 700)
				h.holds(other, 0)
				h.suspended(0)
				if e := h.events(a.Company); len(e) != 1 || e[0].Kind != event.SettlementCredit {
					t.Errorf("told: %+v", e)
				}
				if again := h.cases(operation.UnknownAccount); len(again) > 0 {
					t.Errorf("asked about what was assigned: %+v", again)
				}
				h.intact(settlement.House, a.Company, other.Company)
				// A later rejection opens a case and moves no money.
				late := h.inbound(found30, "", 0)
				late.Outcome = provider.Rejected
				h.receives(late)
				if taken := h.cases(operation.Contradiction); len(taken) != 1 {
					t.Errorf("cases of a credit taken back: %+v", taken)
				}
			})
		})
	}
}

// If a notification arrives before the second operator's finding, the notification books the
// credit. The operators then cannot book the credit again.
func TestANotificationBeforeTheAssignment(t *testing.T) {
	for told, says := range map[string]string{"8000000011": "in the ledger of company", "8000000099": "in suspense"} {
		for _, proposed := range []bool{false, true} {
			t.Run(fmt.Sprint(told, proposed), func(t *testing.T) {
				each(t, func(t *testing.T, h *house) {
					a := h.fed("8000000011")
					c := h.finds(settlement.House, found30, 700)
					if proposed {
						if _, err := h.find(c, "ada", theirs(a)); err != nil {
							t.Fatal(err)
						}
					}
					h.receives(h.inbound(found30, told, 700))
					h.refuses(c, "bob", theirs(a), says)
					waits := h.cases(operation.UnknownAccount)
					if told == "8000000011" {
						h.holds(a, 700)
					} else if h.suspended(700); len(waits) != 1 {
						t.Fatalf("%+v", waits)
					} else {
						h.agrees(waits[0], theirs(a)) // the case that the notification opened
						h.assigns(waits[0])
					}
					h.holds(a, 700)
					h.agrees(c, operation.Finding{Outcome: operation.Dismissed})
					h.receives(h.inbound(found30, told, 700))
					h.holds(a, 700)
					h.suspended(0)
					h.intact(settlement.House, a.Company)
				})
			})
		}
	}
}

// When a notification and the second operator's finding arrive at the same time, the money is
// credited only once.
func TestANotificationDuringTheAssignment(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		const rounds = 20
		for i := range rounds {
			session := fmt.Sprintf("0000133001020304050000000001%02d", i)
			c := h.finds(settlement.House, session, 100)
			if _, err := h.find(c, "ada", theirs(a)); err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			both.Go(func() {
				if err := h.Receive(t.Context(), bank, h.inbound(session, "8000000011", 100)); err != nil {
					t.Error(err)
				}
			})
			agreed := false
			both.Go(func() { _, err := h.find(c, "bob", theirs(a)); agreed = err == nil })
			both.Wait()
			if agreed {
				h.assigns(c)
			}
			for _, waits := range h.cases(operation.UnknownAccount) {
				h.agrees(waits, theirs(a)) // the notification booked the credit into suspense
				h.assigns(waits)
			}
		}
		h.holds(a, rounds*100)
		h.suspended(0)
		h.intact(settlement.House, a.Company)
	})
}

// If a notification has named a company but its ledger lacks the credit, operators can credit
// only that company.
func TestACreditWhoseCompanyIsKnown(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, other := h.account(h.company()), h.account(h.company())
		if _, err := h.db.Exec(t.Context(), `INSERT INTO settlement_session (provider, session_id, company_id) VALUES ($1, $2, $3)`,
			bank, found30, a.Company); err != nil {
			t.Fatal(err)
		}
		c := h.finds(a.Company, found30, 700)
		h.refuses(c, "ada", theirs(other), "is company "+a.Company+"'s")
		h.agrees(c, theirs(a))
		h.holds(a, 700)
		h.receives(h.inbound(found30, "8000000099", 700))
		h.holds(a, 700)
		h.intact(a.Company, other.Company)
	})
}

// A credit without a session ID is refused, because a later notification could not be matched
// with it.
func TestACreditWithoutASessionIsRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		for name, says := range map[string]string{
			"stray-1": "names no session", "": "names no session", found30 + "1": "names no session", "NIP/" + found30: "names no session",
		} {
			h.refuses(h.finds(settlement.House, name, 700), "ada", theirs(a), says)
		}
		h.refuses(h.finds(settlement.House, found30, 0), "ada", theirs(a), "does not say how much")
		c := h.finds(settlement.House, found30[:29]+"2", 700)
		h.refuses(c, "ada", operation.Finding{Outcome: operation.Booked}, "charges of a day")
		for _, wrong := range []operation.Finding{
			{Outcome: operation.Assigned},
			{Outcome: operation.Assigned, Target: settlement.House, TargetID: 1},
			{Outcome: operation.Assigned, Target: a.Company, TargetID: a.ID + 1},
		} {
			if _, err := h.find(c, "ada", wrong); !fault.Is(err, fault.Missing) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		h.holds(a, 0)
	})
}

// The statement and the ledger may have the same credit under different session IDs. The credit of
// the statement cannot be booked until the case about the credit of the ledger is settled.
func TestACreditWithATwinIsRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		h.receives(h.inbound("s-1", "8000000011", 700))
		c := h.finds(settlement.House, found30, 700)
		short := func(subject string, amount money.Kobo) operation.Case {
			short, err := h.Raise(t.Context(), operation.Case{Company: a.Company, Subject: subject, Reason: operation.NotOnStatement, Amount: -amount}, h.clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			return short
		}
		short("otherbank/s-1", 700)
		short(bank+"/s-0", 600)
		if _, err := h.find(c, "ada", theirs(a)); err != nil {
			t.Fatal(err)
		}
		twin := short(bank+"/s-1", 700)
		h.refuses(c, "bob", theirs(a), "settle case "+twin.ID+" first")
		h.holds(a, 700)
		h.agrees(twin, operation.Finding{Outcome: operation.Dismissed})
		if _, err := h.find(c, "bob", theirs(a)); err != nil {
			t.Fatal(err)
		}
		h.assigns(c)
		h.holds(a, 1400)
	})
}

// When two operators agree, the fintech's own ledger takes over the statement's total of the bank's
// charges of a day. The total may be higher or lower than before. The ledgers of companies do not
// change.
func TestTheBanksChargesOfADay(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		h.receives(h.inbound("s-1", "8000000011", 5000))
		before := h.shown(a.Company)
		booked := operation.Finding{Outcome: operation.Booked}
		raise := func(reason operation.Reason, company, subject string, amount money.Kobo) operation.Case {
			c, err := h.Raise(t.Context(), operation.Case{Company: company, Subject: subject, Reason: reason, Amount: amount}, h.clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for _, step := range []struct {
			reason  operation.Reason
			subject string
			amount  money.Kobo
			borne   money.Kobo
		}{
			{operation.UnbookedCharge, "safehaven/2030-01-01", 1400, 1400},
			{operation.NotOnStatement, "safehaven/2030-01-01", -400, 1000},
			{operation.UnbookedCharge, "safehaven/2029-12-31", 25, 1025},
		} {
			c := raise(step.reason, settlement.House, step.subject, step.amount)
			if _, err := h.find(c, "ada", booked); err != nil {
				t.Fatal(err)
			}
			if _, err := h.find(c, "ada", booked); err != nil {
				t.Fatal(err)
			}
			h.charged(step.borne - step.amount)
			if done, err := h.find(c, "bob", booked); err != nil || done.State != operation.Resolved {
				t.Fatalf("%+v, %v", done, err)
			}
			h.refuses(c, "eve", booked, "resolved already")
			h.charged(step.borne)
		}
		if after := h.shown(a.Company); after != before {
			t.Errorf("the company sees %s, not %s", after, before)
		}
		h.intact(settlement.House, a.Company)

		h.refuses(raise(operation.UnbookedCharge, settlement.House, "safehaven/2030-01-02", 0), "ada", booked, "does not say how much")
		h.refuses(raise(operation.NotOnStatement, settlement.House, "safehaven/0001", -5), "ada", booked, "charges of a day")
		h.refuses(raise(operation.NotOnStatement, a.Company, "safehaven/2030-01-01", -5), "ada", booked, "charges of a day")
		h.refuses(raise(operation.UnknownDebit, settlement.House, "safehaven/2030-01-01", 5), "ada", booked, "charges of a day")
		h.charged(1025)
	})
}

// charged fails the test unless the fintech's own ledger has this total of the bank's charges.
func (h *house) charged(want money.Kobo) {
	h.t.Helper()
	charge, err := h.book.Balance(h.t.Context(), settlement.House, settlement.ChargeAccount(bank))
	if err != nil || charge != -want {
		h.t.Errorf("charges of %s, %v; want %s", -charge, err, want)
	}
	if at, err := h.book.Balance(h.t.Context(), settlement.House, settlement.ProviderAccount(bank)); err != nil || at != want {
		h.t.Errorf("at the bank %s, %v; want %s", at, err, want)
	}
}

// shown returns a company's balances as text.
func (h *house) shown(company string) string {
	h.t.Helper()
	i, err := report.New(h.db, h.clock).Integrity(h.t.Context(), company)
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprint(i.Own(), i.InFlight, i.Entries, i.Sequence)
}
