package quota_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/quota"
)

var me = operator.Local("test")

type world struct {
	*quota.Service
	t     *testing.T
	db    *db.DB
	book  *ledger.Book
	clock *clock.Manual
}

func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		w := &world{t: t, db: d, book: ledger.New(d, clk), clock: clk}
		t.Cleanup(w.book.Drain)
		w.Service = quota.New(d, w.book, clk)
		for _, company := range []string{"c1", "c2"} {
			u := ledger.Found(company)
			if err := w.book.Commit(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		f(t, w)
	})
}

// begin creates one object of a kind, as a business package does.
func (w *world) begin(company string, k quota.Kind) error {
	now, u := w.clock.Now(), ledger.For(company)
	if err := quota.Count(w.t.Context(), w.db, &u, k, now); err != nil {
		return err
	}
	me.Audit(&u, "test", "", nil, now)
	return quota.Reached(w.book.Commit(w.t.Context(), u), now)
}

func (w *world) set(company string, k quota.Kind, most int64) {
	w.t.Helper()
	if err := w.Set(w.t.Context(), me, company, k, most); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) uses(company string) (day string, by map[quota.Kind]quota.Use) {
	w.t.Helper()
	day, uses, err := w.Uses(w.t.Context(), company)
	if err != nil {
		w.t.Fatal(err)
	}
	by = map[quota.Kind]quota.Use{}
	for _, u := range uses {
		by[u.Kind] = u
	}
	return day, by
}

func TestDefaultQuotas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		day, uses := w.uses("c1")
		if day != "2030-01-02" || len(uses) != 4 {
			t.Errorf("%s %v", day, uses)
		}
		for kind, most := range map[quota.Kind]int64{quota.OTP: 1000, quota.SettlementAccount: 50, quota.CryptoAddress: 10_000, quota.VirtualAccount: 0} {
			if u := uses[kind]; u.Most != most || u.Used != 0 || u.Left() != most || !u.Since.IsZero() {
				t.Errorf("%s: %+v", kind, u)
			}
		}
	})
}

func TestAQuotaEndsAtMidnightInLagos(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if err := w.begin("c1", quota.OTP); err != nil { // counts although the quota is set only afterwards
			t.Fatal(err)
		}
		w.set("c1", quota.OTP, 2)
		if err := w.begin("c1", quota.OTP); err != nil {
			t.Fatal(err)
		}
		err := w.begin("c1", quota.OTP)
		f := fault.Of(err)
		if f == nil || f.Kind != fault.Limited || f.Message != "Daily limit of 2 OTPs reached" {
			t.Fatalf("the third: %v", err)
		}
		if want := 19*time.Hour + 55*time.Minute + 55*time.Second; f.Retry != want {
			t.Errorf("again after %v, want %v", f.Retry, want)
		}
		if _, uses := w.uses("c1"); uses[quota.OTP].Used != 2 || uses[quota.OTP].Left() != 0 {
			t.Errorf("a refused one counts: %+v", uses[quota.OTP])
		}
		for company, kind := range map[string]quota.Kind{"c1": quota.SettlementAccount, "c2": quota.OTP} {
			if err := w.begin(company, kind); err != nil {
				t.Errorf("%s of %s: %v", kind, company, err)
			}
		}
		w.clock.Advance(f.Retry - time.Microsecond)
		if err := w.begin("c1", quota.OTP); !fault.Is(err, fault.Limited) || fault.Of(err).Retry != time.Second {
			t.Errorf("just before midnight: %v", err)
		}
		w.clock.Advance(time.Microsecond)
		if err := w.begin("c1", quota.OTP); err != nil {
			t.Errorf("at midnight: %v", err)
		}
		if day, uses := w.uses("c1"); day != "2030-01-03" || uses[quota.OTP].Used != 1 {
			t.Errorf("%s %+v", day, uses[quota.OTP])
		}
	})
}

func TestConcurrentRequestsNeverExceedAQuota(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.set("c1", quota.CryptoAddress, 7)
		var all sync.WaitGroup
		errs := make([]error, 40)
		for i := range errs {
			all.Go(func() { errs[i] = w.begin("c1", quota.CryptoAddress) })
		}
		all.Wait()
		begun := 0
		for _, err := range errs {
			if err == nil {
				begun++
			} else if fault.Of(err).Message != "Daily limit of 7 crypto addresses reached" {
				t.Error(err)
			}
		}
		if begun != 7 {
			t.Errorf("%d began", begun)
		}
	})
}

func TestTheLatestQuotaIsInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.set("c1", quota.VirtualAccount, 1)
		if err := w.begin("c1", quota.VirtualAccount); err != nil {
			t.Fatal(err)
		}
		if err := w.begin("c1", quota.VirtualAccount); fault.Of(err) == nil || fault.Of(err).Message != "Daily limit of 1 virtual accounts reached" {
			t.Error(err)
		}
		w.clock.Advance(time.Minute)
		w.set("c1", quota.VirtualAccount, 0)
		for range 3 {
			if err := w.begin("c1", quota.VirtualAccount); err != nil {
				t.Errorf("without a limit: %v", err)
			}
		}
		if _, uses := w.uses("c1"); uses[quota.VirtualAccount].Used != 4 || !uses[quota.VirtualAccount].Since.Equal(w.clock.Now()) {
			t.Errorf("%+v", uses[quota.VirtualAccount])
		}
		w.set("c1", quota.SettlementAccount, 1)
		if err := w.begin("c1", quota.SettlementAccount); err != nil {
			t.Fatal(err)
		}
		if err := w.begin("c1", quota.SettlementAccount); fault.Of(err) == nil || fault.Of(err).Message != "Daily limit of 1 settlement accounts reached" {
			t.Error(err)
		}
	})
}

func TestInvalidQuotasAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if err := w.Set(t.Context(), me, "c1", "cards", 1); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		if err := w.Set(t.Context(), me, "c1", quota.OTP, -1); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		if err := w.Set(t.Context(), me, "nobody", quota.OTP, 1); !fault.Is(err, fault.Missing) {
			t.Error(err)
		}
	})
}

func TestOtherErrorsStayUnchanged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		now, u := w.clock.Now(), ledger.For("c1")
		u.Count("payout/2030-01-02/count", 2, 1)
		me.Audit(&u, "test", "", nil, now)
		over := w.book.Commit(t.Context(), u)
		if !ledger.Is(over, ledger.Over) {
			t.Fatalf("above the limit of another counter: %v", over)
		}
		for _, err := range []error{nil, errors.New("the disk is full"), &ledger.Refusal{Reason: ledger.NoCompany}, over} {
			if got := quota.Reached(err, now); got != err {
				t.Errorf("%v became %v", err, got)
			}
		}
	})
}

// A quota that is set after the clock was corrected is in force, each time, although the one before was set while the clock
// was ahead.
func TestAQuotaSetAfterTheClockWasCorrectedIsInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.set("c1", quota.OTP, 1)
		_, err := w.db.Exec(t.Context(), `UPDATE quota SET version = '7fffffff-ffff-7abc-8abc-abcdefabcdef' WHERE company_id = 'c1'`)
		if err != nil {
			t.Fatal(err)
		}
		for n := int64(2); n < 5; n++ {
			w.set("c1", quota.OTP, n)
			if _, uses := w.uses("c1"); uses[quota.OTP].Most != n {
				t.Errorf("the quota is %d, want %d", uses[quota.OTP].Most, n)
			}
		}
	})
}

// slow is an operator during whose act another one acts.
type slow struct {
	operator.Operator
	meanwhile func()
}

func (s *slow) Audit(u *ledger.Unit, action, subject string, details map[string]string, at time.Time) {
	if run := s.meanwhile; run != nil {
		s.meanwhile = nil
		run()
	}
	s.Operator.Audit(u, action, subject, details, at)
}

// Of quotas that two operators set at once, the later commit is in force. The version of the later one was chosen first.
func TestOfQuotasSetAtOnceTheLaterCommitIsInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for n := range int64(3) {
			by := &slow{Operator: me, meanwhile: func() { w.set("c1", quota.OTP, 1000+n) }}
			if err := w.Set(t.Context(), by, "c1", quota.OTP, 10+n); err != nil {
				t.Fatal(err)
			}
			if _, uses := w.uses("c1"); uses[quota.OTP].Most != 10+n {
				t.Errorf("the quota is %d, want %d", uses[quota.OTP].Most, 10+n)
			}
		}
	})
}
