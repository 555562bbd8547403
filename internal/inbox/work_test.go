package inbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const account = "8000000011"

func TestCallbacksNeedTheSecret(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		path := h.Path("bank")
		for _, wrong := range []string{
			"/callbacks/bank/x", path[:len(path)-1], path + "0", strings.Replace(path, "bank", "other", 1),
			h.Path("other"), // a correct secret for a provider that is not configured
			strings.Replace(path, ".", "$", 1) + "x",
		} {
			if status := h.post(wrong, "{}"); status != 404 {
				t.Errorf("%s: %d", wrong, status)
			}
		}
		if status := h.post(path, strings.Repeat("x", 64<<10+1)); status != 413 {
			t.Errorf("too large: %d", status)
		}
		if s := h.states(); len(s) != 0 {
			t.Errorf("%v", s)
		}
	})
}

func TestFiftyAtOnceCreditOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.book(h.credit("s-1", account, 1500))
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				// Many of the notifications have equal bodies.
				h.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: account, Amount: 1500, Padding: fmt.Sprint(i % 25 * (i % 2))})
			})
		}
		all.Wait()
		h.settled()
		h.holds(a, 1500)
		// Another notification of the same credit arrives later.
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: account, Amount: 1500, Padding: "late"})
		h.settled()
		h.holds(a, 1500)
		if s := h.states(); s["NEW"] != 0 || s["WORKED"] < 2 || len(h.cases(operation.Contradiction)) != 0 {
			t.Errorf("%v", s)
		}
	})
}

func TestWhatTheBankSaysCounts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, other := h.fed(account), h.fed("8000000022")
		h.bank.book(h.credit("s-1", account, 1500))
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: "8000000022", Amount: 999_999})
		h.settled()
		h.holds(a, 1500)
		h.holds(other, 0)
		c := h.cases(operation.Contradiction)
		if len(c) != 1 || c[0].Subject != "bank/s-1" || c[0].Company != settlement.House || !strings.Contains(c[0].Detail, "₦15.00") {
			t.Errorf("%+v", c)
		}
		// The bank does not know this session.
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-2", Account: account, Amount: 500})
		// The bank rejects this credit when the inbox asks about it.
		rejected := h.credit("s-3", account, 500)
		rejected.Outcome = provider.Rejected
		h.bank.book(rejected)
		h.notify(notice{Kind: provider.VirtualCredit, Session: "s-3", Account: account, Amount: 500})
		h.settled()
		h.holds(a, 1500)
		if s := h.states(); s["NEW"] != 1 || s["IGNORED"] != 1 {
			t.Errorf("%v", s)
		}
	})
}

// What a notification says otherwise than the bank is a case, be it the amount or the account.
func TestEachDifferenceFromTheBankIsACase(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		for i, n := range []notice{{Account: account, Amount: 1501}, {Account: "8000000022", Amount: 1500}, {Account: account, Amount: 1500}, {}} {
			n.Kind, n.Session = provider.AccountCredit, fmt.Sprint("s-", i)
			h.bank.book(h.credit(n.Session, account, 1500))
			h.notify(n)
			h.settled()
			if got, want := len(h.cases(operation.Contradiction)), min(i+1, 2); got != want {
				t.Errorf("%d cases after %+v, want %d", got, n, want)
			}
		}
		h.holds(a, 4*1500)
	})
}

func TestABankThatIsNotDoneIsAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed(account)
		h.bank.change(func(b *bank) { b.away = true })
		h.bank.book(h.credit("s-1", account, 1500))
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: account, Amount: 1500})
		h.settled()
		h.holds(a, 0)
		h.clock.Advance(4 * time.Second)
		h.settled()
		h.bank.change(func(b *bank) {
			if b.asked != 1 {
				t.Errorf("asked %d times", b.asked)
			}
			b.away = false
		})
		h.clock.Advance(time.Second)
		h.settled()
		h.holds(a, 1500)
	})
}

func TestPoisonBecomesACase(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for _, body := range []string{"", "not JSON 22222222222", `{"Kind":"account_credit"}`} {
			if status := h.post(h.Path("bank"), body); status != 200 {
				t.Errorf("%q: %d", body, status)
			}
		}
		h.notify(notice{Kind: "news"})
		h.notify(notice{Kind: provider.PayoutNotice, Reference: "p-1"}) // a notification about an unknown payout
		h.settled()
		if s := h.states(); s["CASE"] != 3 || s["IGNORED"] != 2 || s["NEW"] != 0 {
			t.Errorf("%v", s)
		}
		if c := h.cases(operation.Unreadable); len(c) != 3 || strings.Contains(fmt.Sprint(c), "22222222222") {
			t.Errorf("%+v", c)
		}
		// This notification makes the provider's adapter panic on every attempt, for a day.
		h.notify(notice{Kind: "panic"})
		for range 300 {
			h.settled()
			h.clock.Advance(5 * time.Minute)
		}
		h.settled()
		if s := h.states(); s["CASE"] != 4 || s["NEW"] != 0 {
			t.Errorf("%v", s)
		}
	})
}

func TestPayoutsAreToldByReference(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newShared(t, d).open(t)
		var mu sync.Mutex
		told := map[string]int{}
		h.Payout = func(_ context.Context, reference string) error {
			mu.Lock()
			defer mu.Unlock()
			told[reference]++
			switch {
			case reference == "foreign":
				return fault.New(fault.Missing, "Payout not found")
			case told[reference] == 1:
				return errRefused
			}
			return nil
		}
		h.begins()
		h.notify(notice{Kind: provider.PayoutNotice, Reference: "p-1"})
		h.notify(notice{Kind: provider.PayoutNotice, Reference: "foreign"})
		h.settled()
		h.clock.Advance(2 * time.Second)
		h.settled()
		if s := h.states(); told["p-1"] != 2 || told["foreign"] != 1 || s["WORKED"] != 1 || s["IGNORED"] != 1 {
			t.Errorf("%v, %v", told, s)
		}
	})
}

// If a program stops after storing a notification but before processing it, another program
// processes the notification.
func TestWhatIsStoredIsWorkedAfterACrash(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		first := w.open(t)
		a := first.fed(account)
		w.bank.book(first.credit("s-1", account, 1500))
		first.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: account, Amount: 1500})
		first.server.Close()
		if s := first.states(); s["NEW"] != 1 {
			t.Errorf("%v", s)
		}
		second := w.open(t).begins()
		second.settled()
		second.holds(a, 1500)
	})
}

// When two programs on one database receive the same notifications, each credit is booked only
// once.
func TestTwoProgramsCreditOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		one, two := w.open(t).begins(), w.open(t).begins()
		a := one.fed(account)
		var all sync.WaitGroup
		for i := range 40 {
			session := fmt.Sprintf("s-%d", i)
			w.bank.book(one.credit(session, account, 100))
			for _, h := range []*house{one, two, one, two} {
				all.Go(func() {
					h.notify(notice{Kind: provider.AccountCredit, Session: session, Account: account, Amount: 100})
				})
			}
		}
		all.Wait()
		one.settled()
		one.holds(a, 4000)
		if s := one.states(); s["WORKED"] != 40 || len(s) != 1 {
			t.Errorf("%v", s)
		}
		if n := len(two.cases(operation.UnknownAccount)); n != 0 {
			t.Errorf("%d cases", n)
		}
	})
}

func TestWhatIsStoredIsSealedAndClearedOut(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		const bvn = "22222222222"
		h.notify(notice{Kind: "news", Padding: bvn})
		h.settled()
		bodies, err := db.All(t.Context(), h.db, db.Value[string], `SELECT body || id || detail FROM inbox_notification`)
		if err != nil || len(bodies) != 1 || strings.Contains(bodies[0], bvn) {
			t.Errorf("%q, %v", bodies, err)
		}
		h.clock.Advance(89 * 24 * time.Hour)
		h.settled()
		if s := h.states(); s["IGNORED"] != 1 {
			t.Errorf("%v", s)
		}
		h.clock.Advance(25 * time.Hour)
		h.settled()
		if s := h.states(); len(s) != 0 {
			t.Errorf("%v", s)
		}
		if strings.Contains(h.log.String(), bvn) {
			t.Error("a BVN is in the log")
		}
	})
}

func TestAStoreThatFailsIsSaid(t *testing.T) {
	w := newShared(t, dbtest.New(t, db.SQLite))
	h := w.open(t)
	if _, err := w.db.Exec(t.Context(), `DROP TABLE inbox_notification`); err != nil {
		t.Fatal(err)
	}
	if status := h.post(h.Path("bank"), "{}"); status != 503 {
		t.Errorf("status %d", status)
	}
}

// After a key rotation, callback paths with a secret from an older key of the keyring stay valid.
func TestTheSecretOutlivesARotation(t *testing.T) {
	w := newShared(t, dbtest.New(t, db.SQLite))
	older, newer := secret.Generate(), secret.Generate()
	path := map[string]string{}
	for name, ring := range map[string]string{"older": older, "both": newer + older, "newer": newer} {
		keys, err := secret.Parse(ring)
		if err != nil {
			t.Fatal(err)
		}
		w.keys = keys
		h := w.open(t)
		path[name] = h.Path("bank")
		if status := h.post(path[name], "{}"); status != 200 {
			t.Errorf("%s: status %d", name, status)
		}
	}
	keys, err := secret.Parse(newer + older)
	if err != nil {
		t.Fatal(err)
	}
	w.keys = keys
	if status := w.open(t).post(path["older"], "{}"); status != 200 || path["both"] != path["newer"] {
		t.Errorf("status %d, %v", status, path)
	}
}

// A notification stays open until its credit is booked. The poll of the bank's list, which comes
// minutes later, has no part in that.
func TestANotifiedCreditThatCannotBeBookedIsTriedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newShared(t, d).open(t)
		var tried atomic.Int32
		h.Receive = func(ctx context.Context, name string, in provider.Inbound) error {
			if tried.Add(1) == 1 {
				return errRefused
			}
			return h.settlements.Receive(ctx, name, in)
		}
		h.begins()
		a := h.fed(account)
		h.bank.book(h.credit("s-1", account, 1500))
		h.notify(notice{Kind: provider.AccountCredit, Session: "s-1", Account: account, Amount: 1500})
		h.settled()
		h.holds(a, 0)
		if s := h.states(); s["NEW"] != 1 {
			t.Errorf("not booked, and %v", s)
		}
		h.clock.Advance(2 * time.Second)
		h.settled()
		h.holds(a, 1500)
		if s := h.states(); s["WORKED"] != 1 || tried.Load() != 2 {
			t.Errorf("%v after %d tries", s, tried.Load())
		}
	})
}
