package apptest_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
)

// witness records which requests each biller gets for each purchase reference.
type witness struct {
	mu   sync.Mutex
	said map[string][]string // by reference: "VTpass pay", "VTpass requery" …
}

type witnessed struct {
	provider.Biller
	by *witness
}

func (w *witness) around(b provider.Biller) provider.Biller { return witnessed{b, w} }

func (w *witness) note(reference, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.said[reference], what) {
		w.said[reference] = append(w.said[reference], what)
	}
}

func (w witnessed) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	w.by.note(p.Reference, w.Name()+" pay")
	return w.Biller.Pay(ctx, p)
}

func (w witnessed) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	w.by.note(s.Reference, w.Name()+" requery")
	return w.Biller.Requery(ctx, s)
}

func (w *witness) want(t *testing.T, reference string, what ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.said[reference], what) {
		t.Errorf("of %s was said %q, not %q", reference, w.said[reference], what)
	}
}

// While the outcome of a purchase is unknown, only its biller gets requests about it. No other
// biller gets a payment or a status request for it, even after a change of the routes. When the
// outcome is known, the next order follows the new routes.
func TestAnUnknownOutcomeStaysWithItsBiller(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home, w := apptest.NewHome(t, dialect), &witness{said: map[string][]string{}}
		start := func(routes string) *apptest.Program {
			return home.Start(t, apptest.Routes(routes), apptest.Around(w.around), apptest.Window(2*time.Second))
		}
		p := start("DATA/MTN=vtpass")
		mtn := p.Products(p.Category("Data", "MTN Data"))[0]
		delivered, never := p.Order(mtn, "fence-02", "02"), p.Order(mtn, "fence-03", "03")
		lost, gone := p.Bought(p.Buy(delivered)), p.Bought(p.Buy(never))
		if lost.Status != "PENDING" || gone.Status != "PENDING" {
			t.Fatalf("%+v %+v", lost, gone)
		}
		p.Stop()

		p = start("DATA/MTN=safehaven")
		for _, order := range []apptest.Order{delivered, never} {
			again := p.Buy(order).Want(t, http.StatusOK)
			if again.Message() != "Duplicate request — returning existing transaction" {
				t.Errorf("the same order under new routes: %s", again)
			}
		}
		p.Advance(time.Minute)
		p.Advance(20 * time.Minute)
		if a, b := p.Transaction("fence-02"), p.Transaction("fence-03"); a.Status != "SUCCESS" || b.Status != "FAILED" {
			t.Errorf("resolved: %s %s", a.Raw, b.Raw)
		}
		w.want(t, lost.TransactionID, "VTpass pay", "VTpass requery")
		w.want(t, gone.TransactionID, "VTpass pay", "VTpass requery")
		// The Idempotency-Key of a failed purchase cannot be used again. An order with a new key follows
		// the current routes.
		p.Buy(never).Want(t, http.StatusBadRequest)
		w.want(t, gone.TransactionID, "VTpass pay", "VTpass requery")
		fresh := p.Bought(p.Buy(p.Order(p.Products(p.Category("Data", "MTN"))[0], "fence-new", "10")))
		w.want(t, fresh.TransactionID, "Safe Haven pay")
		p.Audit(t, apptest.DevFloat)
	})
}
