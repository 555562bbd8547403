package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	soakCompanies = 8
	// soakFloat is the opening balance of each company of a soak, in kobo. Credits come on top, so it is below the largest balance.
	soakFloat = 100_000_000_000_000
	// tokenAge is the age at which a soak replaces its access tokens, which live for fifteen minutes.
	tokenAge = 10 * time.Minute
	// tokenAgain is the time after which a soak tries again if an exchange has failed.
	tokenAgain = 10 * time.Second
)

// errand is a kind of operation of a soak, and how often it is chosen among all.
type errand struct {
	weight int
	do     func(s *soak, c *conn, r *rand.Rand, a Account) (outcome, error)
}

var errands = []errand{
	{35, (*soak).purchase},
	{15, (*soak).payout},
	{10, (*soak).credit},
	{15, read("/api/v1/settlement/accounts")},
	{10, read("/api/v1/vtu/transactions?pageSize=20")},
	{5, read("/api/v1/settlement/payouts?pageSize=20")},
	{10, read("/api/v1/events?limit=20")},
}

// story returns the last two digits of a number. One payment of 25 has a story of the sandbox: refused,
// lost, late or not executed. Story 08, which has no outcome for three days, is left out.
func story(r *rand.Rand) string {
	if r.IntN(25) > 0 {
		return "10"
	}
	return fmt.Sprintf("0%d", 1+r.IntN(7))
}

// outcome is how an operation of a soak ended.
type outcome int

const (
	succeeded outcome = iota
	pending
	refunded
	unavailable // the bank could not be asked for a name
	outcomes
)

// tally counts the outcomes of all clients.
type tally struct {
	mu     sync.Mutex
	recent histogram // successes since the last sample
	counts [outcomes]int64
	failed int64
	first  error
}

func (t *tally) add(how outcome, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if t.failed++; t.first == nil {
			t.first = err
		}
		return
	}
	if t.counts[how]++; how == succeeded {
		t.recent.add(took)
	}
}

func (t *tally) failure() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		return ""
	}
	return t.first.Error()
}

// since returns the counts so far, and the durations since the last call.
func (t *tally) since() (counts [outcomes]int64, failed int64, recent histogram) {
	t.mu.Lock()
	defer t.mu.Unlock()
	recent, t.recent = t.recent, histogram{}
	return t.counts, t.failed, recent
}

// bearers are the companies with their present access tokens.
type bearers struct{ all atomic.Pointer[[]Account] }

func (b *bearers) set(all []Account) { b.all.Store(&all) }

func (b *bearers) pick(r *rand.Rand) Account {
	all := *b.all.Load()
	return all[r.IntN(len(all))]
}

// renew replaces the access tokens before they expire, until the context ends. An exchange that fails counts as a failed
// operation, and renew soon tries again. Otherwise one failure would fail every later operation of the run.
func (s *soak) renew(ctx context.Context, age, again time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for next := age; wait(ctx, timer, time.Now().Add(next)); {
		all, began := slices.Clone(*s.bearers.all.Load()), time.Now()
		err := s.target.tokens(ctx, all)
		if ctx.Err() != nil {
			return
		}
		s.bearers.set(all) // a company whose exchange has failed keeps its token
		next = age
		if err != nil {
			s.done.add(0, err, time.Since(began))
			next = again
		}
	}
}

// begin starts the clients. Together they begin s.Rate operations a second. The function that it
// returns waits for their end: an operation that has begun is finished.
func (s *soak) begin(ctx context.Context, start time.Time) (end func()) {
	var all sync.WaitGroup
	var taken atomic.Int64
	for range s.Clients {
		all.Go(func() {
			c := &conn{ctx: context.WithoutCancel(ctx), target: s.target}
			defer c.close()
			timer := time.NewTimer(0)
			defer timer.Stop()
			for {
				n := taken.Add(1) - 1
				slot := start.Add(time.Duration(n) * time.Second / time.Duration(s.Rate))
				if !wait(ctx, timer, slot) || ctx.Err() != nil {
					return
				}
				how, err := s.operate(c, rand.New(rand.NewPCG(s.Seed, uint64(n)))) //nolint:gosec // the seed repeats the choices
				s.done.add(how, err, time.Since(slot))
			}
		})
	}
	return all.Wait
}

// operate makes one operation. All its choices follow from r.
func (s *soak) operate(c *conn, r *rand.Rand) (outcome, error) {
	total := 0
	for _, e := range errands {
		total += e.weight
	}
	pick, i := r.IntN(total), 0
	for pick >= errands[i].weight {
		pick -= errands[i].weight
		i++
	}
	return errands[i].do(s, c, r, s.bearers.pick(r))
}

// read returns an errand that reads a path.
func read(path string) func(*soak, *conn, *rand.Rand, Account) (outcome, error) {
	return func(s *soak, c *conn, _ *rand.Rand, a Account) (outcome, error) {
		_, err := c.want(s.request(http.MethodGet, path, a.token, "", ""), http.StatusOK, nil)
		return succeeded, err
	}
}

// purchase buys a data bundle.
func (s *soak) purchase(c *conn, r *rand.Rand, a Account) (outcome, error) {
	body := fmt.Sprintf(`{"idempotencyKey":"soak-%d","serviceCategoryId":"%s","productId":"%s","phoneNumber":"080300000%s","settlementId":%d}`,
		fresh(), s.category, s.product, story(r), a.SettlementID)
	status, text, err := c.do(s.request(http.MethodPost, "/api/v1/vtu/purchase-data", a.token, body, ""))
	if err != nil {
		return 0, err
	}
	return paid(status, text)
}

// paid tells what the response to a payment says.
func paid(status int, text []byte) (outcome, error) {
	switch {
	case status == http.StatusOK && bytes.Contains(text, []byte(success)):
		return succeeded, nil
	case status == http.StatusOK && bytes.Contains(text, []byte(`"status":"PENDING"`)):
		return pending, nil
	case status == http.StatusBadRequest && bytes.Contains(text, []byte("Your balance has been refunded.")):
		return refunded, nil
	}
	return 0, unexpected{status, string(text[:min(len(text), 300)])}
}

// payout validates an account at a bank, and sends a payout to it.
func (s *soak) payout(c *conn, r *rand.Rand, a Account) (outcome, error) {
	body := fmt.Sprintf(`{"bank_code":"000014","account_number":"01234567%s","pin":"%s","fromSettlementId":%d}`, story(r), a.PIN, a.SettlementID)
	status, text, err := c.do(s.request(http.MethodPost, "/api/v1/settlement/validate-account", a.token, body, ""))
	switch {
	case err != nil:
		return 0, err
	case status == http.StatusServiceUnavailable:
		return unavailable, nil
	case status != http.StatusOK:
		return 0, unexpected{status, string(text[:min(len(text), 300)])}
	}
	_, rest, _ := bytes.Cut(text, []byte(`"id":"`))
	id, _, found := bytes.Cut(rest, []byte(`"`))
	if !found {
		return 0, unexpected{status, string(text)}
	}
	body = fmt.Sprintf(`{"verify_id":"%s","amount":%d}`, id, 100+r.IntN(900))
	status, text, err = c.do(s.request(http.MethodPost, "/api/v1/settlement/send-payout", a.token, body, ""))
	if err != nil {
		return 0, err
	}
	return paid(status, text)
}

// credit pays into the bank account of the first company. The others have no bank account.
func (s *soak) credit(c *conn, r *rand.Rand, _ Account) (outcome, error) {
	body := fmt.Sprintf(`{"accountNumber":"%s","amount":%d}`, s.companies[0].SettlementAccountNumber, 10+r.IntN(990))
	_, err := c.want(s.request(http.MethodPost, "/sandbox/credit", "", body, ""), http.StatusOK, nil)
	return succeeded, err
}

// hook takes the webhooks of all companies. It refuses one message of 500.
type hook struct {
	server *http.Server
	url    string
	seen   atomic.Int64
	ended  chan error
}

func newHook() (*hook, error) {
	l, address, err := listen(nil)
	if err != nil {
		return nil, err
	}
	h := &hook{url: address + "/hooks", ended: make(chan error, 1)}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { h.ended <- h.server.Serve(l) }()
	return h, nil
}

// ServeHTTP takes a message.
func (h *hook) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if h.seen.Add(1)%500 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (h *hook) close(ctx context.Context) error {
	err := h.server.Shutdown(ctx)
	if e := <-h.ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
