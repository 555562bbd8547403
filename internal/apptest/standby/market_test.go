package standby_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
)

const (
	validate = "/api/v1/settlement/validate-account"
	payOut   = "/api/v1/settlement/send-payout"
)

// order is an order with a unique key. It also has what the caller knows about the outcome.
type order struct {
	by        *apptest.Client
	path, key string
	body      any
	told      apptest.Answer // the last response
	confirmed time.Time      // when a response with a reference came, by the program's clock
	reference string         // the reference in a response, or "" before the first response
}

// market simulates callers of several companies that buy and pay without pause. A caller waits for
// a response longer than the program may take to respond.
type market struct {
	p         *apptest.Program
	companies []*apptest.Client
	t         *testing.T
	bundle    apptest.Bundle

	stop    chan struct{}
	callers sync.WaitGroup

	mu       sync.Mutex
	orders   []*order
	given    int         // number of responses that confirm an operation
	at       []time.Time // when they came
	statuses map[int]int // the number of first responses with each status; 0 for none
}

func newMarket(t *testing.T, p *apptest.Program) *market {
	m := &market{p: p, t: t, bundle: p.Bundle(), stop: make(chan struct{}), statuses: map[int]int{}}
	// The test uses several companies, because the commits of different companies may hang at
	// different points.
	for _, c := range []*apptest.Client{p.Client, p.Company(apptest.DevFloat), p.Company(apptest.DevFloat), p.Company(apptest.DevFloat)} {
		m.companies = append(m.companies, c.WithTimeout(2*time.Minute))
	}
	return m
}

// open starts callers that buy data bundles, and callers that make payouts. All payouts are made by
// the first company, which is the only one with a PIN.
func (m *market) open(buyers, payers int) {
	for i := range buyers {
		by := m.companies[i%len(m.companies)]
		m.call(func(n int) {
			key := fmt.Sprintf("buyer %d order %d", i, n)
			m.place(&order{by: by, path: apptest.PurchaseData, key: key, body: by.Order(m.bundle, key, "10")})
		})
	}
	by := m.companies[0]
	for i := range payers {
		m.call(func(n int) {
			key := fmt.Sprintf("payer %d account %d", i, n)
			account := &order{by: by, path: validate, key: key, body: map[string]any{
				"bank_code": "000014", "account_number": "0123456710", "pin": by.PIN, "fromSettlementId": by.SettlementID,
			}}
			if m.place(account); account.reference != "" {
				m.place(&order{by: by, path: payOut, key: key + " payout", body: map[string]any{"verify_id": account.reference, "amount": 100}})
			}
		})
	}
}

// call places orders until the market closes.
func (m *market) call(next func(n int)) {
	m.callers.Go(func() {
		pace := time.NewTicker(200 * time.Millisecond)
		defer pace.Stop()
		for n := 0; ; n++ {
			select {
			case <-m.stop:
				return
			case <-pace.C:
				next(n)
			}
		}
	})
}

// close stops the callers and waits until each caller has a response.
func (m *market) close() {
	close(m.stop)
	m.callers.Wait()
}

func (m *market) place(o *order) {
	m.ask(m.t, o)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statuses[o.told.Status]++
	if m.orders = append(m.orders, o); o.reference != "" {
		o.confirmed = m.p.App.Clock.Now()
		m.given++
		m.at = append(m.at, time.Now())
	}
}

// ask sends an order under its key. If no response comes, the outcome of the order is unknown to
// the caller.
func (m *market) ask(t *testing.T, o *order) {
	var err error
	if o.told, err = o.by.Try(t.Context(), http.MethodPost, o.path, o.body, "Idempotency-Key", o.key); err != nil {
		o.told = apptest.Answer{Body: err.Error()}
	}
	if o.told.Status != http.StatusOK {
		return
	}
	var a struct {
		Data struct{ TransactionID, Reference, ID string }
	}
	o.told.Into(t, &a)
	o.reference = a.Data.TransactionID + a.Data.Reference + a.Data.ID // each response has exactly one of these
}

func (m *market) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.given
}

// acknowledged waits until the callers have received a number of further confirmations. Each must
// come within the time limit of Eventually.
func (m *market) acknowledged(t *testing.T, more int) {
	t.Helper()
	for want := m.count() + more; m.count() < want; {
		last := m.count()
		apptest.Eventually(t, func() string {
			if m.count() == last {
				return fmt.Sprintf("%d answers are missing", want-last)
			}
			return ""
		})
	}
}
