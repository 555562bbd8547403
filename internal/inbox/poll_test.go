package inbox_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// polls moves the clock to the next credit poll and waits for its end.
func (h *house) polls() {
	h.t.Helper()
	h.clock.Advance(5 * time.Minute)
	h.settled()
}

func TestANotificationThatNeverCame(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		for i := range 40 { // more pages than one run of the job reads
			h.bank.book(h.credit(fmt.Sprintf("s-%d", i), account, 100))
		}
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-7", Account: account, Amount: 100})
		h.settled()
		h.holds(a, 100)
		h.polls()
		h.holds(a, 4000)
		h.polls()
		h.holds(a, 4000)
		// This credit appears on the list 50 minutes after it happened.
		late := h.credit("s-late", account, 50)
		late.At = h.clock.Now().Add(-50 * time.Minute)
		h.bank.book(late)
		h.polls()
		h.holds(a, 4050)
	})
}

func noStep(context.Context) error { return nil }

// CatchUp books the bank's list without waiting for the next poll. If an old round is unfinished,
// CatchUp completes that round and then runs a new round.
func TestCatchingUp(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		for i := range 40 {
			h.bank.book(h.credit(fmt.Sprintf("s-%d", i), account, 100))
		}
		catchUp := func(bank string) {
			t.Helper()
			if err := h.CatchUp(t.Context(), bank, noStep); err != nil {
				t.Fatal(err)
			}
		}
		catchUp("nobody")
		h.holds(a, 0)
		catchUp("bank")
		h.holds(a, 4000)
		_, err := h.db.Exec(t.Context(), `UPDATE inbox_account SET round_at = done_until, next_until = done_until, page = 3`)
		if err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(time.Minute)
		h.bank.book(h.credit("s-new", account, 50))
		catchUp("bank")
		h.holds(a, 4050)
		h.bank.change(func(b *bank) { b.away = true })
		if err := h.CatchUp(t.Context(), "bank", noStep); err == nil {
			t.Error("caught up with a bank that is away")
		}
	})
}

func TestAPollWaitsForUnfinishedCredits(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		pending := h.credit("s-1", account, 100)
		pending.Outcome = provider.Unknown
		h.bank.book(pending)
		h.polls()
		h.clock.Advance(48 * time.Hour)
		h.settled()
		h.holds(a, 0)
		h.bank.change(func(b *bank) { b.credits[0].Outcome = provider.Confirmed })
		h.polls()
		h.holds(a, 100)
		// A credit that stays unfinished for 72 hours becomes a case, and the poll continues
		// without it.
		stuck := h.credit("s-2", account, 100)
		stuck.Outcome = provider.Unknown
		h.bank.book(stuck)
		h.polls()
		h.clock.Advance(73 * time.Hour)
		h.settled()
		if c := h.cases(operation.Unresolved); len(c) != 1 || c[0].Subject != "bank/s-2" {
			t.Errorf("%+v", c)
		}
		h.polls()
		from, err := db.One(t.Context(), h.db, db.Value[int64], `SELECT done_until FROM inbox_sweep`)
		if err != nil || from < h.clock.Now().Add(-time.Hour).UnixMicro() {
			t.Errorf("the poll has stopped at %d, %v", from, err)
		}
	})
}

// A credit that cannot be booked does not stop the poll from booking the other credits.
func TestARefusedCreditKeepsNoOtherOut(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.book(h.credit("s-1", account, 100))
		h.bank.book(h.credit("s-bad", account, 0))
		h.bank.book(h.credit("s-2", account, 100))
		h.polls()
		h.holds(a, 200)
	})
}

func TestABankThatIsAwayIsSweptLater(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) { b.away = true })
		h.bank.book(h.credit("s-1", account, 100))
		h.polls()
		h.clock.Advance(6 * time.Hour)
		h.settled()
		h.bank.change(func(b *bank) { b.away = false })
		h.polls()
		h.holds(a, 100)
	})
}

func TestTwoProgramsPollOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		one := w.open(t).begins()
		w.open(t).begins()
		a := one.fed(account)
		for i := range 20 {
			w.bank.book(one.credit(fmt.Sprintf("s-%d", i), account, 100))
		}
		one.polls()
		one.holds(a, 2000)
	})
}

// BenchmarkStore measures the callback handler with 64 senders of different
// notifications.
func BenchmarkStore(b *testing.B) {
	for _, dialect := range dbtest.Dialects {
		b.Run(string(dialect), func(b *testing.B) {
			h := newShared(b, dbtest.New(b, dialect)).open(b)
			h.fed(account)
			path := h.Path("bank")
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						body := fmt.Sprintf(`{"Kind":"account_credit","Session":"s-%d","Account":%q,"Amount":100,"Padding":"%0800d"}`, i, account, i)
						if status := h.post(path, body); status != 200 {
							b.Errorf("status %d", status)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "notifications/s")
			b.StopTimer()
			stored, err := db.One(context.Background(), h.db, db.Value[int64], `SELECT count(*) FROM inbox_notification`)
			if err != nil || stored != int64(b.N) {
				b.Errorf("%d of %d are stored, %v", stored, b.N, err)
			}
		})
	}
}

// Each round of the poll tries a credit again that could not be booked, also if newer credits were
// booked meanwhile. After 72 hours the credit becomes a case.
func TestACreditThatCannotBeBookedIsNotSkipped(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newShared(t, d).open(t)
		var refused atomic.Pointer[string] // the session whose credit cannot be booked
		refuse := func(session string) { refused.Store(&session) }
		h.Receive = func(ctx context.Context, name string, in provider.Inbound) error {
			if in.SessionID == *refused.Load() {
				return errRefused
			}
			return h.settlements.Receive(ctx, name, in)
		}
		refuse("s-old")
		h.begins()
		a := h.fed(account)
		h.bank.book(h.credit("s-old", account, 100))
		h.polls()
		for i := range 3 { // a round reads from an hour before the newest credit, unless an older one is not booked
			h.clock.Advance(2 * time.Hour)
			h.bank.book(h.credit(fmt.Sprint("s-", i), account, 100))
			h.polls()
		}
		h.holds(a, 300)
		refuse("s-never")
		h.polls()
		h.holds(a, 400)
		h.bank.book(h.credit("s-never", account, 100))
		h.polls()
		if c := h.cases(operation.Unresolved); len(c) != 0 {
			t.Errorf("too early: %+v", c)
		}
		h.clock.Advance(73 * time.Hour)
		h.polls()
		if c := h.cases(operation.Unresolved); len(c) != 1 || c[0].Subject != "bank/s-never" {
			t.Errorf("%+v", c)
		}
		h.holds(a, 400)
	})
}
