package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

// value returns one number from the inbox's tables.
func (h *house) value(query string) int64 {
	h.t.Helper()
	n, err := db.One(h.t.Context(), h.db, db.Value[int64], query)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *house) retired() int64 {
	h.t.Helper()
	return h.value(`SELECT count(*) FROM inbox_account WHERE retired_at <> 0`)
}

// An account that the bank neither lists nor answers for leaves the poll after twelve whole listings. When
// the bank lists it again, the poll reads it from where it was read, so no credit is lost.
func TestAnAccountThatIsGoneIsRetired(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.holds(a, 100)
		h.bank.change(func(b *bank) { b.unlisted, b.wrong = account, map[string]string{"id-" + account: "404"} })
		for range 11 {
			h.polls()
		}
		if n := h.retired(); n != 0 {
			t.Fatal("retired after eleven listings")
		}
		h.polls()
		h.polls()
		if n := h.retired(); n != 1 || !strings.Contains(h.log.String(), "no longer reads an account") {
			t.Fatalf("%d accounts are retired", n)
		}
		reads := h.reads(account)
		for range 80 { // longer than any pause between two reads
			h.polls()
		}
		if n := h.reads(account); n != reads {
			t.Errorf("a retired account was read %d times", n-reads)
		}
		if oldest := clock.Time(h.value(`SELECT min(polled_at) FROM inbox_account WHERE retired_at = 0`)); h.clock.Now().Sub(oldest) > 6*time.Hour {
			t.Errorf("the oldest read is of %s", oldest)
		}
		late := h.credit("s-2", account, 50)
		late.At = h.clock.Now().Add(-5 * time.Hour)
		h.bank.book(late)
		h.bank.change(func(b *bank) { b.unlisted, b.wrong = "", nil })
		h.polls()
		h.holds(a, 150)
		if h.retired() != 0 || !strings.Contains(h.log.String(), "lists a retired account again") {
			t.Error("the account did not come back")
		}
	})
}

// reads returns how many pages of an account's credits the bank was asked for.
func (h *house) reads(number string) (n int) {
	h.bank.change(func(b *bank) { n = b.read["id-"+number] })
	return n
}

// While the bank answers for an account, the account stays in the poll, also without a place on the list.
func TestAnAccountThatAnswersIsNotRetired(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.bank.change(func(b *bank) { b.unlisted = account })
		for range 20 {
			h.polls()
		}
		h.bank.book(h.credit("s-2", account, 100))
		h.polls()
		h.polls()
		h.holds(a, 200)
		if n := h.retired(); n != 0 {
			t.Errorf("%d accounts are retired", n)
		}
	})
}

// A notification of a credit brings a retired account back.
func TestACreditBringsARetiredAccountBack(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.bank.change(func(b *bank) { b.unlisted, b.wrong = account, map[string]string{"id-" + account: "404"} })
		for range 14 {
			h.polls()
		}
		if h.retired() != 1 {
			t.Fatal("not retired")
		}
		h.bank.change(func(b *bank) { b.wrong = nil })
		h.bank.book(h.credit("s-2", account, 100))
		h.bank.book(h.credit("s-3", account, 100)) // its notification is lost
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-2", Account: account, Amount: 100})
		h.settled()
		h.polls()
		h.polls()
		h.holds(a, 300)
	})
}

// Our accounts that the bank does not list are counted, and a log line says so. A credit into such an
// account says so too.
func TestOurAccountsThatTheBankDoesNotListAreCounted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newShared(t, d).open(t)
		var ours []string
		for i := range 1203 { // more than are compared at once
			ours = append(ours, fmt.Sprintf("7%09d", i))
		}
		h.Numbers = func(_ context.Context, bank, after string, most int) (page []string, err error) {
			i, found := slices.BinarySearch(ours, after)
			if found {
				i++
			}
			return ours[i:min(i+most, len(ours))], nil
		}
		h.bank.change(func(b *bank) { b.quiet = slices.Concat(ours[:5], ours[1200:]) })
		a := h.fed(account)
		h.begins()
		h.polls()
		h.settled()
		if n := h.value(`SELECT unlisted FROM inbox_sweep`); n != 1203-8 {
			t.Errorf("%d are not listed", n)
		}
		h.polls()
		if n := strings.Count(h.log.String(), "does not list accounts of ours"); n != 1 {
			t.Errorf("%d log lines", n)
		}
		ours = ours[:5]
		h.polls()
		if n := h.value(`SELECT unlisted FROM inbox_sweep`); n != 0 {
			t.Errorf("%d are not listed", n)
		}
		h.bank.change(func(b *bank) { b.unlisted = account })
		h.bank.book(h.credit("s-1", account, 100))
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: account, Amount: 100})
		h.settled()
		h.holds(a, 100)
		if !strings.Contains(h.log.String(), "a credit came into an account that the bank has not listed") || strings.Contains(h.log.String(), account) {
			t.Error("the log does not say that the account is not listed, or it has the number")
		}
	})
}

// A program whose clock was hours ahead has read no credit of those hours. After the clock is right, the
// poll goes on at once and reads the credits that came meanwhile.
func TestAPollUnderAClockThatWasAheadGoesOn(t *testing.T) {
	for _, ahead := range []time.Duration{3 * time.Hour, 400 * 24 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newShared(t, d)
				h := w.open(t)
				if err := h.Begin(t.Context()); err != nil {
					t.Fatal(err)
				}
				a := h.fed(account)
				w.bank.book(h.credit("s-1", account, 100))
				polls := func() {
					t.Helper()
					if _, err := h.Poll(t.Context(), job.Job{Subject: "bank"}); err != nil {
						t.Fatal(err)
					}
				}
				polls()
				w.clock.Jump(ahead)
				polls()
				w.clock.Jump(-ahead)
				w.clock.Advance(10 * time.Minute)
				w.bank.book(h.credit("s-2", account, 100))
				polls()
				h.holds(a, 200)
				if n := h.value(`SELECT count(*) FROM inbox_account WHERE done_until > ` + fmt.Sprint(clock.Micros(w.clock.Now()))); n != 0 {
					t.Errorf("%d accounts are read until the future", n)
				}
			})
		})
	}
}

// The clock was ahead, was set right, and nobody has read until the stored times were past. The credits
// of that time are found all the same, because a round begins at the newest credit that the bank has
// told of.
func TestCreditsOfATimeThatWasSkippedAreFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		h := w.open(t)
		if err := h.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := h.fed(account)
		w.bank.book(h.credit("s-1", account, 100))
		const ahead = 5 * time.Hour
		w.clock.Jump(ahead)
		if _, err := h.Poll(t.Context(), job.Job{Subject: "bank"}); err != nil {
			t.Fatal(err)
		}
		w.clock.Jump(-ahead)
		w.clock.Advance(time.Hour)
		w.bank.book(h.credit("s-2", account, 100))
		w.clock.Advance(7 * time.Hour)
		if _, err := h.Poll(t.Context(), job.Job{Subject: "bank"}); err != nil {
			t.Fatal(err)
		}
		h.holds(a, 200)
	})
}

// A program that starts after the clock was set back does not wait for a poll that is planned in the
// future.
func TestTheNextPollIsNotFarInTheFuture(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		w.clock.Jump(400 * 24 * time.Hour)
		if err := w.open(t).Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.Jump(-400 * 24 * time.Hour)
		h := w.open(t)
		a := h.fed(account)
		h.begins()
		w.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.holds(a, 100)
	})
}

// slow is a bank whose answers about some accounts take until the poll's patience ends.
type slow struct {
	*bank
	clock *clock.Manual
	takes time.Duration
	lists bool
}

func (b slow) Receiving(ctx context.Context, at int) ([]provider.Receiving, bool, error) {
	if b.lists {
		b.clock.Advance(b.takes)
	}
	return b.bank.Receiving(ctx, at)
}

func (b slow) InboundSince(ctx context.Context, id string, from time.Time, at int) ([]provider.Inbound, bool, error) {
	credits, more, err := b.bank.InboundSince(ctx, id, from, at)
	if err != nil {
		b.clock.Advance(b.takes)
	}
	return credits, more, err
}

// However slow a bank is, a run ends before the limit of its job, with ten seconds for the database.
func TestARunEndsBeforeItsLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		h := w.open(t)
		h.Banks["bank"] = slow{w.bank, w.clock, inbox.Answer, true}
		if err := h.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.bank.change(func(b *bank) {
			b.wrong = map[string]string{}
			for i := range 70 {
				n := fmt.Sprintf("8100000%03d", i)
				if b.quiet = append(b.quiet, n); i%3 != 0 {
					b.wrong["id-"+n] = provider.CodeTimeout
				}
			}
		})
		for range 40 {
			began := w.clock.Elapsed()
			_, err := h.Poll(t.Context(), job.Job{Subject: "bank"})
			var silent *provider.Error
			if err != nil && !errors.As(err, &silent) {
				t.Fatal(err)
			}
			if took := w.clock.Elapsed() - began; took > inbox.Limit-10*time.Second {
				t.Fatalf("a run took %s", took)
			}
			w.clock.Advance(time.Minute)
		}
	})
	if patient := inbox.Patience * inbox.Answer; patient > inbox.ReadPhase+inbox.Answer {
		t.Errorf("a run cannot be patient for %s", patient)
	}
}

// Accounts for which the bank never answers get the last part of a run, and ever longer pauses. All other
// accounts are read every five minutes.
func TestSilentAccountsSlowNoOther(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		h := w.open(t)
		h.Banks["bank"] = slow{w.bank, w.clock, inbox.Answer, false}
		if err := h.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.bank.change(func(b *bank) {
			b.wrong = map[string]string{}
			for i := range 40 {
				n := fmt.Sprintf("8100000%03d", i)
				if b.quiet = append(b.quiet, n); i%2 == 0 {
					b.wrong["id-"+n] = provider.CodeTimeout
				}
			}
		})
		run := func() {
			t.Helper()
			next, err := h.Poll(t.Context(), job.Job{Subject: "bank"})
			if err != nil {
				next = w.clock.Now().Add(5 * time.Second) // the pause of a job after an error
			}
			if wait := next.Sub(w.clock.Now()); wait > 0 {
				w.clock.Advance(wait)
			}
		}
		for end := w.clock.Now().Add(2 * time.Hour); w.clock.Now().Before(end); {
			run()
		}
		const silent, reads = "8100000000", "8100000001"
		before, silence, began := h.reads(reads), 0, w.clock.Now()
		for i := range 40 {
			silence -= h.reads(fmt.Sprintf("8100000%03d", i/2*2))
		}
		for w.clock.Now().Sub(began) < 2*time.Hour {
			run()
		}
		for i := range 40 {
			silence += h.reads(fmt.Sprintf("8100000%03d", i/2*2))
		}
		if n := h.reads(reads) - before; n < 18 {
			t.Errorf("an account that answers was read %d times in two hours", n)
		}
		if silence /= 2; silence > 24*3 || h.reads(silent) == 0 {
			t.Errorf("silent accounts were read %d times in two hours", silence)
		}
	})
}
