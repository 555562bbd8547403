package inbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

var numbers = []string{"8000000011", "8000000022", "8000000033"}

// fedAll creates a company for each of the numbers.
func (h *house) fedAll() map[string]settlement.Account {
	h.t.Helper()
	all := map[string]settlement.Account{}
	for _, n := range numbers {
		all[n] = h.fed(n)
	}
	return all
}

// finished returns when the poll last left no account due.
func (h *house) finished() time.Time {
	h.t.Helper()
	at, err := db.One(h.t.Context(), h.db, db.Value[int64], `SELECT finished_at FROM inbox_sweep`)
	if err != nil {
		h.t.Fatal(err)
	}
	return clock.Time(at)
}

// A program may stop after any credit: within a page, or after the last credit of a page but before the
// progress is stored. Meanwhile new credits move the pages. The next program misses no credit and
// books none twice.
func TestACrashInThePollLosesAndDoublesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		h := w.open(t)
		if err := h.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		accounts, booked := h.fedAll(), 0
		book := func() {
			for _, n := range numbers {
				booked++
				w.bank.book(h.credit(fmt.Sprintf("s-%d", booked), n, 100))
			}
		}
		for range 8 {
			book()
		}
		crashes := 0
		for crash := 1; ; crash = crash%7 + 1 { // after the seventh credit, two pages of three are stored
			h := w.open(t)
			ctx, stop := context.WithCancel(t.Context())
			left := crash
			h.Receive = func(ctx context.Context, name string, in provider.Inbound) error {
				err := h.settlements.Receive(ctx, name, in)
				if left--; left == 0 {
					stop()
				}
				return err
			}
			_, err := h.Poll(ctx, job.Job{Subject: "bank"})
			stop()
			if err == nil {
				break
			}
			if crashes++; crashes%5 == 1 && crashes < 20 {
				book()
			}
			w.clock.Advance(time.Second)
		}
		if crashes < 7 {
			t.Errorf("%d crashes", crashes)
		}
		h.begins()
		h.polls()
		for _, a := range accounts {
			h.holds(a, 100*money.Kobo(booked/len(numbers)))
		}
		n, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM settlement_credit`)
		if err != nil || n != int64(booked) {
			t.Errorf("%d of %d credits are booked, %v", n, booked, err)
		}
	})
}

// An account whose credits the bank does not list is read later. The others are read now.
func TestARefusedAccountStopsNoOther(t *testing.T) {
	for _, code := range []string{"400", "404", "500", provider.CodeTimeout} {
		t.Run(code, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				accounts := h.fedAll()
				for i, n := range numbers {
					h.bank.book(h.credit(fmt.Sprintf("s-%d", i), n, 100))
				}
				h.bank.change(func(b *bank) { b.wrong = map[string]string{"id-" + numbers[1]: code} })
				h.polls()
				h.holds(accounts[numbers[0]], 100)
				h.holds(accounts[numbers[1]], 0)
				h.holds(accounts[numbers[2]], 100)
				if h.finished() != h.clock.Now() {
					t.Error("the poll did not finish")
				}
				if err := h.CatchUp(t.Context(), "bank", noStep); err != nil {
					t.Error(err)
				}
				h.clock.Advance(8 * 24 * time.Hour)
				h.settled()
				h.bank.change(func(b *bank) { b.wrong = nil })
				for range 4 { // it has failed three times, so it is read again after 20 minutes
					h.polls()
				}
				h.holds(accounts[numbers[1]], 100)
			})
		})
	}
}

// A bank that refuses many accounts in a row has replied, so the same run goes on to the others.
func TestManyRefusedAccountsStopNoOther(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) {
			b.wrong = map[string]string{}
			for i := range 7 {
				n := fmt.Sprintf("70000000%02d", i)
				b.quiet, b.wrong["id-"+n] = append(b.quiet, n), "404"
			}
		})
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.holds(a, 100)
	})
}

// Without a reply for three accounts in a row, a run ends, since the bank is probably away. The next run
// begins with the other accounts.
func TestManySilentAccountsStopNoOther(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) {
			b.wrong = map[string]string{}
			for i := range 7 {
				n := fmt.Sprintf("81000000%02d", i)
				b.quiet, b.wrong["id-"+n] = append(b.quiet, n), provider.CodeTimeout
			}
		})
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		for range 3 {
			h.clock.Advance(5 * time.Second)
			h.settled()
		}
		h.holds(a, 100)
	})
}

// Accounts for which the bank never replies do not stop a reconciliation: CatchUp reads the others.
func TestSilentAccountsStopNoCatchUp(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) {
			b.wrong = map[string]string{}
			for i := range 7 {
				n := fmt.Sprintf("71000000%02d", i)
				b.quiet, b.wrong["id-"+n] = append(b.quiet, n), provider.CodeTimeout
			}
		})
		h.polls()
		h.clock.Advance(time.Minute)
		h.bank.book(h.credit("s-1", account, 100))
		if err := h.CatchUp(t.Context(), "bank", noStep); err != nil {
			t.Error(err)
		}
		h.holds(a, 100)
		h.bank.change(func(b *bank) { b.wrong["id-"+own] = provider.CodeTimeout })
		if err := h.CatchUp(t.Context(), "bank", noStep); err == nil {
			t.Error("our own account was not read")
		}
	})
}

// Another account may become our own by the configuration. The earlier one is then read as the others are.
func TestOurOwnAccountMayChange(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.polls()
		if _, err := h.db.Exec(t.Context(), `INSERT INTO inbox_account
			(company_id, provider, account, account_number, main, done_until, round_at, page, next_until, due_at, polled_at)
			SELECT company_id, provider, 'id-old', '9000000001', 1, done_until, 0, 0, 0, due_at, polled_at FROM inbox_account WHERE main = 1`); err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(time.Minute)
		if err := h.CatchUp(t.Context(), "bank", noStep); err != nil {
			t.Error(err)
		}
		mains, err := db.All(t.Context(), h.db, db.Value[string], `SELECT account FROM inbox_account WHERE main = 1`)
		if err != nil || len(mains) != 1 || mains[0] != "id-"+own {
			t.Errorf("our own accounts are %v, %v", mains, err)
		}
	})
}

// While our own account cannot be read, the poll has not finished, so the metric of its age grows. The
// other accounts are read.
func TestOurOwnAccountMustBeRead(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) { b.wrong = map[string]string{"id-" + own: "400"} })
		h.bank.book(h.credit("s-1", account, 100))
		for range 4 {
			h.polls()
		}
		h.holds(a, 100)
		if !h.finished().IsZero() {
			t.Error("the poll has finished without our own account")
		}
		if err := h.CatchUp(t.Context(), "bank", noStep); err == nil {
			t.Error("caught up without our own account")
		}
		h.bank.change(func(b *bank) { b.wrong = nil })
		h.polls()
		if h.finished().IsZero() {
			t.Error("the poll has not finished")
		}
	})
}

// Each of up to 50 accounts is read every five minutes. With 150 accounts, our own account and one with
// a recent credit still are. Each of the others is read every 15 minutes, or soon after a notification.
func TestQuietAccountsTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.fed(account)
		h.bank.change(func(b *bank) {
			for i := range 148 {
				b.quiet = append(b.quiet, fmt.Sprintf("8100000%03d", i))
			}
		})
		h.bank.book(h.credit("s-1", account, 100))
		reads := func(id string) (n int) {
			h.bank.change(func(b *bank) { n = b.read["id-"+id] })
			return n
		}
		for range 12 {
			h.polls()
		}
		for id, want := range map[string]int{own: 12, account: 12, "8100000000": 4, "8100000147": 4} {
			if n := reads(id); n != want {
				t.Errorf("%s was read %d times, want %d", id, n, want)
			}
		}
		// An hour has passed since the credit, so its account takes turns like the others.
		h.polls()
		h.polls()
		if n := reads(account); n != 12 {
			t.Errorf("read %d times", n)
		}
		before := reads("8100000000")
		h.polls() // the turn of the quiet accounts was 5 or 10 minutes ago
		if n := reads("8100000000") - before; n > 1 {
			t.Errorf("read %d times", n)
		}
		before = reads("8100000000")
		h.bank.book(h.credit("s-2", "8100000000", 100))
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-2", Account: "8100000000", Amount: 100})
		h.settled()
		h.polls()
		h.polls()
		if n := reads("8100000000") - before; n != 2 {
			t.Errorf("read %d times after a notification, want 2", n)
		}
	})
}

// An account may be on the bank's list long after its first credit. The poll still finds that credit.
func TestAnAccountThatIsListedLate(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) { b.unlisted = account })
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.clock.Advance(5 * time.Hour)
		h.settled()
		h.holds(a, 0)
		h.bank.change(func(b *bank) { b.unlisted = "" })
		h.polls()
		h.holds(a, 100)
	})
}

// A program of an earlier schema has read all credits before done_until as one list. The poll continues
// at that time, and not at the page of an unfinished round.
func TestAPollOfAnEarlierProgramGoesOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		h := w.open(t)
		now := w.clock.Now()
		_, err := d.Exec(t.Context(), `INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until, finished_at)
			VALUES ('house', 'bank', $1, $2, 5, $2, $1)`, clock.Micros(now.Add(-2*time.Hour)), clock.Micros(now.Add(-time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		a := h.fed(account)
		for i, age := range []time.Duration{150 * time.Minute, 90 * time.Minute, time.Minute} {
			c := h.credit(fmt.Sprintf("s-%d", i), account, 100)
			c.At = now.Add(-age)
			w.bank.book(c)
		}
		old := h.credit("s-old", account, 100) // the earlier program has booked this credit, or refused it
		old.At = now.Add(-4 * time.Hour)
		w.bank.book(old)
		h.begins()
		h.polls()
		h.holds(a, 300)
		left, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM inbox_sweep WHERE round_at <> 0 OR page <> 0 OR since_at = 0`)
		if err != nil || left != 0 {
			t.Errorf("the earlier round is still open, %v", err)
		}
	})
}

// The database of an earlier program has no newest credit, no listing, and a round that is not finished.
// No credit between its last round and the upgrade is skipped.
func TestAnUpgradeSkipsNoCredit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		h := w.open(t)
		now := w.clock.Now()
		micros := func(age time.Duration) int64 { return clock.Micros(now.Add(-age)) }
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := d.Exec(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until, finished_at, since_at, listed)
			VALUES ('house', 'bank', $1, 0, 0, 0, $1, $2, 0)`, micros(3*time.Hour), micros(72*time.Hour))
		for number, round := range map[string]int64{own: 0, account: micros(time.Hour)} {
			exec(`INSERT INTO inbox_account (company_id, provider, account, account_number, main, done_until, round_at, page, next_until, due_at, polled_at)
				VALUES ('house', 'bank', $1, $2, $3, $4, $5, $6, $5, $4, $4)`,
				"id-"+number, number, map[bool]int{true: 1}[number == own], micros(3*time.Hour), round, map[bool]int{true: 1}[round > 0])
		}
		a := h.fed(account)
		// The open round has read the newest page: three of the five credits before the upgrade.
		for i, age := range []time.Duration{210 * time.Minute, 170 * time.Minute, 100 * time.Minute, 90 * time.Minute, 70 * time.Minute, 50 * time.Minute, time.Minute} {
			c := h.credit(fmt.Sprintf("s-%d", i), account, 100)
			c.At = now.Add(-age)
			w.bank.book(c)
			if i >= 2 && i < 5 {
				if err := h.settlements.Receive(t.Context(), "bank", c); err != nil {
					t.Fatal(err)
				}
			}
		}
		h.begins()
		h.polls()
		h.polls()
		h.holds(a, 700)
	})
}
