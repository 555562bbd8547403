package settlement_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
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

// Money of an unknown account goes to the company that two operators agree on. The company gets
// the money only once, however often the job runs.
func TestTwoOperatorsAssignMoneyInSuspense(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.account(h.company())
		other := h.foreign()
		h.receives(h.inbound("s-1", "8000000099", 700))
		h.receives(h.inbound("s-2", "8000000098", 50))
		cases := h.cases(operation.UnknownAccount)
		c := cases[1]
		find := func(by string, f operation.Finding) (operation.Case, error) {
			who := operator.Local(by)
			return h.operations.ResolveCase(t.Context(), c.ID, f, "it is theirs", who.Name, who.Note)
		}
		theirs := operation.Finding{Outcome: operation.Assigned, Target: a.Company, TargetID: a.ID}
		for name, wrong := range map[string]operation.Finding{
			"another company's account": {Outcome: operation.Assigned, Target: a.Company, TargetID: other.ID},
			"no account":                {Outcome: operation.Assigned, Target: a.Company},
			"no company":                {Outcome: operation.Assigned, Target: "nobody", TargetID: a.ID},
			"the house":                 {Outcome: operation.Assigned, Target: settlement.House, TargetID: 1},
			"a target that is not used": {Outcome: operation.Dismissed, Target: a.Company, TargetID: a.ID},
			"no operation":              {Outcome: operation.FoundConfirmed},
		} {
			if _, err := find("ada", wrong); !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := find("ada", theirs); err != nil {
			t.Fatal(err)
		}
		if _, err := find("bob", operation.Finding{Outcome: operation.Assigned, Target: other.Company, TargetID: other.ID}); err != nil {
			t.Fatal(err)
		}
		h.suspended(750)
		done, err := find("ada", operation.Finding{Outcome: operation.Assigned, Target: other.Company, TargetID: other.ID})
		if err != nil || done.State != operation.Resolved {
			t.Fatalf("%+v, %v", done, err)
		}
		h.suspended(50)
		h.holds(other, 0)
		// The job runs twice, as it may after a crash.
		for range 2 {
			if next, err := h.Assign(t.Context(), h.waiting(settlement.AssignJob)); err != nil || !next.Equal(time.Time{}) {
				t.Fatalf("%v, %v", next, err)
			}
		}
		h.holds(other, 700)
		h.holds(a, 0)
		if e := h.events(other.Company); len(e) != 1 || e[0].Kind != event.SettlementCredit {
			t.Errorf("told: %+v", e)
		}
		// Operators see where the money went, and that the other credit still waits.
		reports := report.New(h.db, h.clock)
		for word, want := range map[string]money.Kobo{"assigned": 700, "ownerless": 50, "received": 700} {
			page, err := reports.Payments(t.Context(), report.PaymentFilter{Word: word})
			if err != nil || len(page.Payments) != 1 || page.Payments[0].Amount != want {
				t.Fatalf("%s: %+v, %v", word, page.Payments, err)
			}
			y, err := reports.Timeline(t.Context(), page.Payments[0].Reference)
			if err != nil || (y.AssignedTo != "") != (word == "assigned") {
				t.Errorf("%s: %+v, %v", word, y, err)
			}
			if y.AssignedTo == "" {
				continue
			}
			if theirs, err := reports.Timeline(t.Context(), y.AssignedTo); err != nil || y.State != "ASSIGNED" || theirs.Company != other.Company || theirs.Amount != 700 {
				t.Errorf("the company's credit: %+v, %v", theirs, err)
			}
		}
		// A repeated notification changes nothing.
		h.receives(h.inbound("s-1", "8000000099", 700))
		h.suspended(50)
		h.holds(other, 700)
		h.intact(settlement.House, a.Company, other.Company)
	})
}

// Two banks may use the same session ID for different credits. Each credit then has a separate
// case, and a decision about one case does not affect the other case.
func TestTwoBanksWithOneSession(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.account(h.company())
		h.receives(h.inbound("s-1", "8000000099", 700))
		if err := h.Receive(t.Context(), "otherbank", h.inbound("s-1", "8000000098", 50)); err != nil {
			t.Fatal(err)
		}
		h.suspended(750)
		cases := h.cases(operation.UnknownAccount)
		if len(cases) != 2 {
			t.Fatalf("%d cases for two credits: %+v", len(cases), cases)
		}
		for i, want := range []money.Kobo{50, 750} {
			c := cases[i] // the newest case comes first, which is otherbank's
			for _, by := range []string{"ada", "bob"} {
				who := operator.Local(by)
				_, err := h.operations.ResolveCase(t.Context(), c.ID,
					operation.Finding{Outcome: operation.Assigned, Target: a.Company, TargetID: a.ID}, "it is theirs", who.Name, who.Note)
				if err != nil {
					t.Fatalf("%s: %v", c.Subject, err)
				}
			}
			if _, err := h.Assign(t.Context(), job.Job{Company: settlement.House, Subject: c.ID}); err != nil {
				t.Fatal(err)
			}
			h.holds(a, want)
			h.suspended(750 - want)
			c, err := h.operations.FindCase(t.Context(), c.ID)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := report.New(h.db, h.clock).CaseTimeline(t.Context(), c)
			amount := []string{"0.50", "7.00"}[i]
			for what, begins := range map[string][]string{"transfer": {amount, "at " + a.Company + ": " + amount}, "event": {"at " + a.Company + ": settlement.credit"}} {
				for _, begin := range begins {
					if err != nil || !slices.ContainsFunc(steps, func(s report.Step) bool { return s.What == what && strings.HasPrefix(s.Text, begin) }) {
						t.Errorf("the story of %s has no %s %q: %+v, %v", c.Subject, what, begin, steps, err)
					}
				}
			}
		}
		// Each bank may report later that it has rejected its credit.
		late := h.inbound("s-1", "", 0)
		late.Outcome = provider.Rejected
		h.receives(late)
		if err := h.Receive(t.Context(), "otherbank", late); err != nil {
			t.Fatal(err)
		}
		if c := h.cases(operation.Contradiction); len(c) != 2 {
			t.Errorf("%d cases of a credit taken back", len(c))
		}
		h.intact(settlement.House, a.Company)
	})
}

// A company has the same account number at two banks. If both banks use the same session ID, the
// company gets two credits.
func TestTwoBanksWithOneSessionForOneCompany(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		for range 2 {
			h.receives(h.inbound("s-1", "8000000011", 1500))
			if err := h.Receive(t.Context(), "otherbank", h.inbound("s-1", "8000000011", 1500)); err != nil {
				t.Fatal(err)
			}
		}
		h.holds(a, 3000)
		if e := h.events(a.Company); len(e) != 2 {
			t.Errorf("told of %d credits", len(e))
		}
		h.intact(a.Company)
	})
}

// waiting returns the only waiting job of a kind.
func (h *house) waiting(kind string) job.Job {
	h.t.Helper()
	j, err := db.One(h.t.Context(), h.db, func(r db.Scanner) (job.Job, error) {
		var j job.Job
		err := r.Scan(&j.Company, &j.Subject)
		return j, err
	}, `SELECT company_id, subject FROM job WHERE kind = $1`, kind)
	if err != nil {
		h.t.Fatal(err)
	}
	return j
}
