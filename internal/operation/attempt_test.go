package operation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// attempt returns the attempt with a reference of the plant's company.
func (p *plant) attempt(reference string) operation.Attempt {
	p.t.Helper()
	a, err := p.FindAttempt(p.t.Context(), p.company, reference)
	p.must(err)
	return a
}

// jobsOf returns the company's jobs of a kind: subject, provider and time.
func (p *plant) jobsOf(kind string) []string {
	p.t.Helper()
	jobs, err := db.All(p.t.Context(), p.db, func(r db.Scanner) (string, error) {
		var subject, asks string
		var at int64
		err := r.Scan(&subject, &asks, &at)
		return fmt.Sprint(subject, " ", asks, " ", at), err
	}, `SELECT subject, provider, run_at FROM job WHERE company_id = $1 AND kind = $2 ORDER BY subject`, p.company, kind)
	p.must(err)
	return jobs
}

// An operation has rows of attempts only after it has moved: one that never started, and the last one. The
// resolver's job asks the new provider.
func TestAMoveEndsOneAttemptAndBeginsTheNext(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		still := p.unknown()
		if _, err := p.FindAttempt(t.Context(), p.company, still.ID); !errors.Is(err, db.ErrNone) {
			t.Errorf("an operation that has not moved has an attempt: %v", err)
		}
		o := p.begin()
		at := p.clock.Now()
		moved, calls := p.over(o, func() { p.clock.Advance(time.Second) }, silence)
		if calls != 1 || moved.Attempt != 2 {
			t.Fatalf("%d calls, attempt %d", calls, moved.Attempt)
		}
		now := at.Add(time.Second)
		first, second := p.attempt(o.ID), p.attempt(o.AttemptReference(2))
		want := operation.Attempt{
			Company: p.company, OperationID: o.ID, Number: 1, Provider: "bank", Reference: o.ID, Cost: price, State: operation.AttemptUnstarted,
			Outcome: "rejected", Code: "018", CreatedAt: at, EndedAt: now,
		}
		if first != want {
			t.Errorf("the first attempt is\n%+v, want\n%+v", first, want)
		}
		want = operation.Attempt{
			Company: p.company, OperationID: o.ID, Number: 2, Provider: "second", Reference: o.AttemptReference(2), Cost: price, State: operation.AttemptOpen, CreatedAt: now,
		}
		if second != want || moved.OurReference() != second.Reference || second.Reference == o.ID {
			t.Errorf("the second attempt is\n%+v, want\n%+v", second, want)
		}
		if got := p.jobsOf(operation.AttemptJob); !slices.Equal(got, []string{fmt.Sprint(o.ID, " bank ", clock.Micros(now.Add(time.Hour)))}) || !first.FirstCheck().Equal(now.Add(time.Hour)) {
			t.Errorf("jobs about the first attempt: %q", got)
		}
		if got := p.jobsOf(operation.ResolveJob); !slices.Contains(got, fmt.Sprint(o.ID, " second ", clock.Micros(moved.NextAt))) || len(got) != 2 {
			t.Errorf("jobs of the resolver: %q", got)
		}
		if _, err := p.FindAttempt(t.Context(), id.Cuid(), o.ID); !errors.Is(err, db.ErrNone) {
			t.Errorf("a different company has the attempt: %v", err)
		}
		p.says(confirmed)
		p.clock.Advance(moved.NextAt.Sub(p.clock.Now()))
		p.poll(o)
		if a := p.attempt(second.Reference); a.State != operation.AttemptEnded || a.Outcome != "confirmed" || !a.EndedAt.Equal(p.clock.Now()) {
			t.Errorf("after the outcome: %+v", a)
		}
		if a := p.attempt(o.ID); a != first {
			t.Errorf("the outcome changed the first attempt: %+v", a)
		}
	})
}

// No byte of the first attempt was sent, so nobody asks about it.
func TestNobodyAsksAboutAnAttemptThatWasNotSent(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		_, err := p.RunOver(t.Context(), o, func(context.Context) provider.Answer { return provider.Reply{Trouble: provider.CodeNotSent}.Answer() },
			func(_ context.Context, now operation.Operation) (operation.Try, bool) {
				return operation.Try{
					Provider: "second", Kind: "k", Cost: price, Lasts: time.Second,
					Call: func(context.Context, operation.Operation) provider.Answer { return confirmed },
				}, now.Attempt == 0
			}, nil)
		p.must(err)
		p.stands(o, operation.Success)
		if a := p.attempt(o.ID); a.State != operation.AttemptUnstarted || a.Code != provider.CodeNotSent {
			t.Errorf("%+v", a)
		}
		if got := p.jobsOf(operation.AttemptJob); len(got) != 0 {
			t.Errorf("jobs about it: %q", got)
		}
	})
}

// A notice of a provider has only the reference. Its company is found among all companies.
func TestTheOwnerOfAnAttempt(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		nobody := func(reference string) {
			t.Helper()
			if owner, err := p.AttemptOwner(t.Context(), reference); !errors.Is(err, db.ErrNone) || owner != "" {
				t.Errorf("%s belongs to %q: %v", reference, owner, err)
			}
		}
		nobody("anything") // before the first attempt of all
		first := p.company
		owners := map[string]string{}
		for range 3 {
			o := p.begin()
			if p.company != first {
				nobody(o.AttemptReference(2))
			}
			p.over(o, func() {}, silence)
			owners[o.ID], owners[o.AttemptReference(2)] = p.company, p.company
			p.company = id.Cuid()
			u := ledger.Found(p.company)
			u.OpenAccounts(ledger.Account{ID: "settlement/1"}, ledger.Account{ID: "capital", Floor: money.NoFloor})
			u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: opening, Kind: "credit"})
			p.must(p.book.Commit(t.Context(), u))
		}
		if len(owners) != 6 {
			t.Fatalf("attempts share references: %v", owners)
		}
		for reference, want := range owners {
			if owner, err := p.AttemptOwner(t.Context(), reference); err != nil || owner != want {
				t.Errorf("%s belongs to %q, want %q: %v", reference, owner, want, err)
			}
		}
		nobody(p.begin().ID) // it has not moved
		nobody("")
	})
}

// The provider is asked an hour and a day after the refusal, and each hour while it does not say anything
// definite, for 72 hours more. A question that could not be sent is none, so the last one is repeated for a day.
func TestTheQuestionsAboutAnUnstartedAttemptEnd(t *testing.T) {
	ended := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	a := operation.Attempt{EndedAt: ended}
	if !a.FirstCheck().Equal(ended.Add(time.Hour)) {
		t.Errorf("the first question is at %s", a.FirstCheck())
	}
	const day = 24 * time.Hour
	unsent := provider.Answer{Code: provider.CodeNotSent}
	refused, absent, open := provider.Answer{Outcome: provider.Rejected}, provider.Answer{Missing: true}, provider.Answer{Code: provider.CodeTimeout}
	for _, c := range []struct {
		said provider.Answer
		at   time.Duration // of the reply, since the refusal
		next time.Duration // 0 if it was the last question
	}{
		{refused, time.Hour, day},
		{absent, time.Hour, day},
		{refused, day - time.Microsecond, day},
		{absent, day - time.Microsecond, day},
		{refused, day, 0},
		{absent, day, 0},
		{refused, 3 * day, 0},
		{absent, 90 * time.Hour, 0},
		{open, time.Hour, 2 * time.Hour},
		{found, time.Hour, 2 * time.Hour},
		{open, 23 * time.Hour, day},
		{open, 23*time.Hour + 30*time.Minute, day},
		{open, day - time.Microsecond, day},
		{open, day, 25 * time.Hour},
		{found, day, 25 * time.Hour},
		{open, 4*day - time.Microsecond, 4*day + time.Hour - time.Microsecond},
		{open, 4 * day, 0},
		{unsent, 2 * day, 2*day + time.Hour},
		{unsent, 4 * day, 4*day + 5*time.Minute},
		{unsent, 5*day - time.Microsecond, 5*day + 5*time.Minute - time.Microsecond},
		{unsent, 5 * day, 0},
		{found, 5 * day, 0},
	} {
		next, more := a.AttemptCheck(c.said, ended.Add(c.at), ended.Add(c.at))
		if more != (c.next > 0) || more && !next.Equal(ended.Add(c.next)) {
			t.Errorf("after %+v at %s: %s, %t; want %s", c.said, c.at, next.Sub(ended), more, c.next)
		}
	}
	// The clock has jumped, or no program was up. The first question is not the last one for that.
	// Nor does a question without an outcome make the next one the last, however late.
	for _, said := range []provider.Answer{refused, absent, unsent, open} {
		for _, late := range []time.Duration{3 * day, 6 * day} {
			next, more := a.AttemptCheck(said, a.FirstCheck(), ended.Add(late))
			if !more || !next.Equal(ended.Add(late+day-time.Hour)) {
				t.Errorf("after a late %+v: %s, %t", said, next, more)
			}
			if _, more = a.AttemptCheck(absent, next, next); more {
				t.Errorf("after a late %+v and an absence: one more", said)
			}
		}
	}
	for _, said := range []provider.Answer{unsent, open} {
		if _, more := a.AttemptCheck(said, ended.Add(7*day), ended.Add(7*day)); more {
			t.Errorf("the questions with the reply %+v do not end", said)
		}
	}
}
