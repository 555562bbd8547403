package operation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// A reply that contradicts the known outcome opens a case, and moves no money.
func TestAContradictionOpensACaseAndMovesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		first, later provider.Answer
		state        operation.State
	}{
		"failed, then done":   {rejected, confirmed, operation.Failed},
		"done, then rejected": {confirmed, rejected, operation.Success},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.run(p.begin(), c.first)
				for range 2 { // only one case, however often the reply arrives
					after, err := p.Notified(t.Context(), o.Company, o.ID, c.later)
					if p.must(err); after.State != c.state {
						t.Errorf("after the contradiction: %+v", after)
					}
				}
				p.stands(o, c.state)
				cases := p.open()
				if len(cases) != 1 || cases[0].Reason != operation.Contradiction || cases[0].Subject != o.ID || cases[0].Company != p.company {
					t.Fatalf("cases: %+v", cases)
				}
				// A repeated reply, or a reply without an outcome, does not count as a
				// contradiction.
				for _, a := range []provider.Answer{c.first, silence, missing} {
					_, err := p.Notified(t.Context(), o.Company, o.ID, a)
					p.must(err)
				}
				if len(p.open()) != 1 || len(p.told()) != 1 {
					t.Errorf("cases %+v, told %v", p.open(), p.told())
				}
				for _, outcome := range []string{operation.FoundConfirmed, operation.FoundRejected} {
					if _, err := p.resolve(cases[0].ID, outcome, "a note", "ada"); !fault.Is(err, fault.Refused) {
						t.Errorf("a finished operation was found %s: %v", outcome, err)
					}
				}
				closed, err := p.agree(cases[0].ID, operation.Dismissed, "settled by hand")
				if p.must(err); closed.State != operation.Resolved || closed.ProposedBy != "ada" || closed.ResolvedBy != "bob" {
					t.Errorf("closed: %+v", closed)
				}
				p.stands(o, c.state)
			})
		})
	}
}

// stuck returns an operation whose outcome is still unknown after 72 hours, and its case.
func (p *plant) stuck() (operation.Operation, operation.Case) {
	p.t.Helper()
	p.says(silence)
	o := p.unknown()
	for next := o.NextAt; !next.IsZero(); next = p.poll(o) {
		p.clock.Advance(next.Sub(p.clock.Now()))
	}
	cases := p.open()
	if len(cases) != 1 {
		p.t.Fatalf("cases: %+v", cases)
	}
	return o, cases[0]
}

// resolve submits one operator's finding. These tests use an event as the row of the audit log.
func (p *plant) resolve(caseID, outcome, note, by string) (operation.Case, error) {
	return p.ResolveCase(p.t.Context(), caseID, operation.Finding{Outcome: outcome}, note, by, audit)
}

func audit(company, action, _ string, details map[string]string, _ time.Time) db.Record {
	return event.New(company, action, details)
}

// agree submits the same finding for two operators.
func (p *plant) agree(caseID, outcome, note string) (operation.Case, error) {
	p.t.Helper()
	proposed, err := p.resolve(caseID, outcome, note, "ada")
	if err != nil || proposed.State != operation.Open || proposed.ProposedBy != "ada" || proposed.ResolvedBy != "" {
		p.t.Errorf("proposed: %+v, %v", proposed, err)
	}
	return p.resolve(caseID, outcome, "I agree", "bob")
}

func TestAFindingMovesTheMoneyOnce(t *testing.T) {
	for outcome, want := range map[string]operation.State{
		operation.FoundConfirmed: operation.Success, operation.FoundRejected: operation.Failed,
	} {
		t.Run(outcome, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o, c := p.stuck()
				refuse := func(caseID, outcome, note string, want fault.Kind) {
					t.Helper()
					if _, err := p.resolve(caseID, outcome, note, "ada"); !fault.Is(err, want) {
						t.Errorf("%q %q: %v", outcome, note, err)
					}
				}
				refuse(c.ID, outcome, " ", fault.Refused)
				refuse(c.ID, "perhaps", "a note", fault.Refused)
				refuse(c.ID, operation.Dismissed, "a note", fault.Refused) // a pending operation must be confirmed or rejected
				refuse(id.New(), outcome, "a note", fault.Missing)
				p.stands(o, operation.Pending)
				closed, err := p.agree(c.ID, outcome, " asked the bank ")
				if p.must(err); closed.Outcome != outcome || closed.Note != "asked the bank" {
					t.Errorf("closed: %+v", closed)
				}
				if got := fmt.Sprint(p.told()); got != fmt.Sprintf("[case.propose test.%s case.resolve]", want) {
					t.Errorf("told: %s", got)
				}
				refuse(c.ID, outcome, "again", fault.Refused)
				refuse(c.ID, operation.Dismissed, "again", fault.Refused)
				p.stands(o, want)
				if found, err := p.FindCase(t.Context(), c.ID); err != nil || found != closed {
					t.Errorf("stored: %+v, %v", found, err)
				}
			})
		})
	}
}

// confirmedBySight is the finding "confirmed", which ApproveCase compares with the current
// proposal.
var confirmedBySight = operation.Finding{Outcome: operation.FoundConfirmed}

// A case is resolved only when two different operators have the same finding. Until then no money
// moves.
func TestTwoOperatorsResolveACase(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		if _, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "bob", audit); !fault.Is(err, fault.Refused) {
			t.Errorf("approved before anything was proposed: %v", err)
		}
		for _, said := range [][2]string{
			{"ada", operation.FoundConfirmed}, {"ada", operation.FoundConfirmed}, {"bob", operation.FoundRejected}, {"ada", operation.FoundConfirmed},
		} {
			now, err := p.resolve(c.ID, said[1], "a note", said[0])
			if p.must(err); now.State != operation.Open || now.ProposedBy != said[0] || now.Outcome != said[1] {
				t.Errorf("%v: %+v", said, now)
			}
			p.stands(o, operation.Pending)
		}
		if _, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "ada", audit); !fault.Is(err, fault.Refused) {
			t.Errorf("ada approves herself: %v", err)
		}
		// The current proposal differs from the proposal that bob has seen.
		_, err := p.ApproveCase(t.Context(), c.ID, operation.Finding{Outcome: operation.FoundRejected}, "", "bob", audit)
		if !fault.Is(err, fault.Refused) {
			t.Errorf("approved unseen: %v", err)
		}
		if _, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "the note of an earlier proposal", "bob", audit); !fault.Is(err, fault.Refused) {
			t.Errorf("approved with a note that bob has not seen: %v", err)
		}
		p.stands(o, operation.Pending)
		done, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "a note", "bob", audit)
		if p.must(err); done.State != operation.Resolved || done.ResolvedBy != "bob" || done.ProposedBy != "ada" {
			t.Errorf("approved: %+v", done)
		}
		p.stands(o, operation.Success)
		if _, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "bob", audit); !fault.Is(err, fault.Refused) {
			t.Errorf("approved twice: %v", err)
		}
		// The history stores every reply about an operation whose first reply did not have a
		// definite outcome.
		n, err := db.One(t.Context(), p.db, db.Value[int64],
			`SELECT count(*) FROM operation_answer WHERE company_id = $1 AND operation_id = $2`, p.company, o.ID)
		if p.must(err); n < 70 {
			t.Errorf("%d answers on record", n)
		}
		_, err = p.ResolveCase(t.Context(), c.ID, operation.Finding{Outcome: operation.Assigned, Target: "x", TargetID: 1}, "a note", "ada", audit)
		if !fault.Is(err, fault.Refused) {
			t.Errorf("assigned: %v", err)
		}
	})
}

// If an operator is removed after proposing a finding, the proposal no longer counts. The next
// operator who submits the same finding becomes its proposer.
func TestARemovedOperatorsProposalDoesNotCount(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		_, err := p.resolve(c.ID, operation.FoundConfirmed, "a note", "ada")
		p.must(err)
		p.removed["ada"] = true
		if _, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "bob", audit); !fault.Is(err, fault.Refused) {
			t.Errorf("approved: %v", err)
		}
		now, err := p.resolve(c.ID, operation.FoundConfirmed, "I looked too", "bob")
		if p.must(err); now.State != operation.Open || now.ProposedBy != "bob" {
			t.Errorf("bob after ada: %+v", now)
		}
		p.stands(o, operation.Pending)
		_, err = p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "eve", audit)
		p.must(err)
		p.stands(o, operation.Success)
	})
}

// If the list of operators cannot be read, a second operator cannot approve a proposal.
func TestNothingIsApprovedWithoutTheListOfOperators(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		away := errors.New("away")
		p.away = away
		o, c := p.stuck()
		if _, err := p.resolve(c.ID, operation.FoundConfirmed, "a note", "ada"); err != nil {
			t.Fatal(err) // a first proposal does not read the list of operators
		}
		for _, say := range []func() error{
			func() error { _, err := p.resolve(c.ID, operation.FoundConfirmed, "a note", "bob"); return err },
			func() error {
				_, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "bob", audit)
				return err
			},
		} {
			if err := say(); !errors.Is(err, away) {
				t.Errorf("said: %v", err)
			}
		}
		p.stands(o, operation.Pending)
	})
}

// An operator who uses a key and also runs commands counts as one person. Such an operator cannot
// approve their own proposal.
func TestAnOperatorWithTwoNamesIsOnePerson(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		for _, by := range []string{"ada", "local:ada", "local:ada", "ada"} {
			now, err := p.resolve(c.ID, operation.FoundConfirmed, "a note", by)
			if p.must(err); now.State != operation.Open || now.ProposedBy != by {
				t.Errorf("%s: %+v", by, now)
			}
		}
		if _, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "local:ada", audit); !fault.Is(err, fault.Refused) {
			t.Errorf("approved: %v", err)
		}
		p.stands(o, operation.Pending)
		_, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "local:bob", audit)
		p.must(err)
		p.stands(o, operation.Success)
	})
}

// If the first operator replaces a proposal while the second operator approves it, the approval
// is refused and no money moves.
func TestAReplacedProposalIsNotApproved(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		_, err := p.resolve(c.ID, operation.FoundConfirmed, "a note", "ada")
		p.must(err)
		meanwhile := func(company, action, subject string, details map[string]string, at time.Time) db.Record {
			_, err := p.resolve(c.ID, operation.FoundRejected, "I was wrong", "ada")
			p.must(err)
			return audit(company, action, subject, details, at)
		}
		if now, err := p.ApproveCase(t.Context(), c.ID, confirmedBySight, "", "bob", meanwhile); !fault.Is(err, fault.Conflict) {
			t.Errorf("approved: %+v, %v", now, err)
		}
		p.stands(o, operation.Pending)
		now, err := p.FindCase(t.Context(), c.ID)
		if p.must(err); now.State != operation.Open || now.ProposedBy != "ada" || now.Outcome != operation.FoundRejected {
			t.Errorf("what stands: %+v", now)
		}
	})
}

// If a finding and the provider's late reply arrive at the same time, only one of the two moves
// the money.
func TestAFindingRacesWithTheProvidersAnswer(t *testing.T) {
	for range 4 {
		each(t, func(t *testing.T, p *plant) {
			o, c := p.stuck()
			_, err := p.resolve(c.ID, operation.FoundRejected, "a note", "ada")
			p.must(err)
			var both sync.WaitGroup
			var found, told error
			both.Go(func() { _, found = p.resolve(c.ID, operation.FoundRejected, "a note", "bob") })
			both.Go(func() { _, told = p.Notified(context.Background(), o.Company, o.ID, confirmed) })
			both.Wait()
			p.must(told)
			now, err := p.FindCase(t.Context(), c.ID)
			p.must(err)
			left := p.open()
			switch {
			case len(left) != 1:
				t.Fatalf("open: %+v", left)
			case found == nil: // the finding came first, so the reply contradicts it
				p.stands(o, operation.Failed)
				if now.State != operation.Resolved || left[0].Reason != operation.Contradiction {
					t.Errorf("the finding came first: %+v, %+v", now, left)
				}
			default:
				p.stands(o, operation.Success)
				if now.State != operation.Open || left[0].ID != c.ID || !fault.Is(found, fault.Conflict) && !fault.Is(found, fault.Refused) {
					t.Errorf("the answer came first: %+v, %v", now, found)
				}
				_, err := p.agree(c.ID, operation.Dismissed, "it has its outcome")
				p.must(err)
			}
		})
	}
}

// The provider names an id while the second operator agrees. The finding is refused, wipes out nothing, and can be repeated.
func TestAFindingWipesOutNothing(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		_, err := p.resolve(c.ID, operation.FoundConfirmed, "a note", "ada")
		p.must(err)
		agree := func(meanwhile func()) error {
			_, err := p.ResolveCase(t.Context(), c.ID, operation.Finding{Outcome: operation.FoundConfirmed}, "I agree", "bob",
				func(company, action, subject string, details map[string]string, at time.Time) db.Record {
					meanwhile()
					return audit(company, action, subject, details, at)
				})
			return err
		}
		err = agree(func() {
			p.clock.Advance(time.Minute) // an operator may ask twice a minute
			p.says(telling)
			_, err := p.askNow(o)
			p.must(err)
		})
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "something new") {
			t.Errorf("the finding: %v", err)
		}
		p.stands(o, operation.Pending)
		p.must(agree(func() {}))
		if now := p.stands(o, operation.Success); now.ProviderReference != telling.Reference || now.Token != telling.Token {
			t.Errorf("after the finding: %+v", now)
		}
	})
}

// If the operation gets its outcome while its case is open, operators can only dismiss the case.
func TestACaseWhoseOutcomeArrivesMayOnlyBeDismissed(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		_, err := p.Notified(t.Context(), o.Company, o.ID, confirmed)
		p.must(err)
		if _, err := p.resolve(c.ID, operation.FoundRejected, "too late", "ada"); !fault.Is(err, fault.Refused) {
			t.Errorf("rejected after a success: %v", err)
		}
		_, err = p.agree(c.ID, operation.Dismissed, "it came")
		p.must(err)
		p.stands(o, operation.Success)
	})
}

func TestCasesAreListedNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		for i := range 3 {
			p.must(p.OpenCase(t.Context(), p.company, fmt.Sprint("subject ", i), operation.Unreadable, "detail"))
			p.clock.Advance(time.Second)
		}
		cases, total, err := p.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 2, 1)
		if p.must(err); total != 3 || len(cases) != 2 || cases[0].Subject != "subject 1" || cases[1].Subject != "subject 0" {
			t.Errorf("%d cases, the second page: %+v", total, cases)
		}
		p.must(p.OpenCase(t.Context(), p.company, "subject 1", operation.Contradiction, "detail"))
		for _, c := range []struct {
			filter operation.CaseFilter
			want   int64
		}{
			{operation.CaseFilter{State: operation.Resolved}, 0},
			{operation.CaseFilter{State: operation.Open, Company: p.company}, 4},
			{operation.CaseFilter{State: operation.Open, Company: "another"}, 0},
			{operation.CaseFilter{State: operation.Open, Reason: operation.Unreadable}, 3},
			{operation.CaseFilter{State: operation.Open, Subject: "subject 1"}, 2},
			{operation.CaseFilter{State: operation.Open, Company: p.company, Reason: operation.Contradiction, Subject: "subject 1"}, 1},
		} {
			cases, total, err := p.Cases(t.Context(), c.filter, 10, 0)
			if p.must(err); total != c.want || int64(len(cases)) != total {
				t.Errorf("%+v: %d cases, %+v", c.filter, total, cases)
			}
		}
		n, err := db.One(t.Context(), p.db, db.Value[int64], `SELECT count(*) FROM operation_case WHERE company_id = $1`, p.company)
		if p.must(err); n != 4 {
			t.Errorf("%d rows", n)
		}
	})
}

// The first load of a card has the card's id. A case about the card, which is older, decides nothing about the load, and does not stop the
// load's own case.
func TestACaseAboutACardDoesNotDecideItsFirstLoad(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		cardID := id.New()
		p.must(p.OpenCase(t.Context(), p.company, cardID, operation.Unresolved, "it is unknown whether the card was made"))
		about := p.open()[0]
		p.clock.Advance(time.Hour)
		o := p.Start(operation.Operation{ID: cardID, Company: p.company, Kind: "test", Provider: "bank", SettlementID: 1, Amount: price, Fee: fee})
		p.must(p.book.Commit(t.Context(), p.Unit(o, 1, "a test")))
		o = p.run(o, provider.Answer{Code: provider.CodeTimeout})
		for _, outcome := range []string{operation.FoundConfirmed, operation.FoundRejected} {
			if _, err := p.resolve(about.ID, outcome, "the card was made", "ada"); !fault.Is(err, fault.Refused) {
				t.Errorf("%s: %v", outcome, err)
			}
		}
		if _, err := p.agree(about.ID, operation.Dismissed, "the card was made"); err != nil {
			t.Error(err)
		}
		p.stands(o, operation.Pending)
		p.says(silence)
		for next := o.NextAt; !next.IsZero(); next = p.poll(o) {
			p.clock.Advance(next.Sub(p.clock.Now()))
		}
		if cases := p.open(); len(cases) != 1 || cases[0].Subject != o.ID || cases[0].Reason != operation.Unresolved {
			t.Fatalf("cases: %+v", cases)
		}
		_, err := p.agree(p.open()[0].ID, operation.FoundRejected, "nothing was loaded")
		p.must(err)
		p.stands(o, operation.Failed)
	})
}
