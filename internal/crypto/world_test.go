package crypto_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const (
	eth  = "ethereum-sepolia"
	tron = "tron-testnet"
	usdc = "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"
	a    = "ca000000000000000000000001" // the first company's reference
	b    = "cb000000000000000000000002"
)

var (
	me   = operator.Local("test")
	far  = "0x00000000000000000000000000000000000000Bb"
	zero = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
)

// custodian is a fake custodian whose replies a test sets.
type custodian struct {
	mu      sync.Mutex
	away    bool
	watched map[string]bool
	at      map[string]provider.Inclusion // the replies of Inclusion by transaction hash
	head    int64
	batches []provider.Batch
	unread  func(cursor string) // is called at the start of Since
	unknown bool                // notifications have an unknown meaning
	holds   map[string]provider.Holding
	heldIn  int64             // the block of holds
	asked   int               // how many holdings were asked for
	fails   error             // the error of Since
	answers func(hash string) // is called before a reply of Inclusion is returned
	begin   int64             // the reply of Begin
}

func (c *custodian) Name() string        { return "Custodian" }
func (c *custodian) Pace() time.Duration { return time.Second }
func (c *custodian) Address(_ context.Context, n chain.Network, k chain.Key, index int64) (string, error) {
	return k.Address(n, index)
}
func (c *custodian) Unwatch(context.Context, string) error { return nil }

func (c *custodian) Watch(_ context.Context, n chain.Network, address string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return "", errors.New("away")
	}
	c.watched[n.ID+" "+address] = true
	return "ref-" + address, nil
}

// ParseNotification returns the movements of a notification if its header "Signed" is "yes".
func (c *custodian) ParseNotification(h http.Header, body []byte) ([]provider.Movement, error) {
	if h.Get("Signed") != "yes" {
		return nil, provider.ErrForged
	}
	return c.ParseKept(body)
}

// ParseKept reads a stored notification once the custodian knows its meaning.
func (c *custodian) ParseKept(body []byte) ([]provider.Movement, error) {
	if c.unknown {
		return nil, provider.ErrUnread
	}
	var m []provider.Movement
	return m, json.Unmarshal(body, &m)
}

// Holdings returns what a test has set, unless it has set nothing.
func (c *custodian) Holdings(_ context.Context, _ chain.Network, _ string, addresses []string) (int64, []provider.Holding, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == nil {
		return 0, nil, nil
	}
	c.asked += len(addresses)
	var of []provider.Holding
	for _, a := range addresses {
		h := c.holds[a]
		if h.Units == nil {
			h.Units = new(big.Int)
		}
		of = append(of, h)
	}
	return c.heldIn, of, nil
}

// Begin returns what a test has set.
func (c *custodian) Begin(string) int64 { return c.begin }

func (c *custodian) Since(_ context.Context, cursor string, _ provider.Ours) (provider.Batch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unread != nil {
		c.unread(cursor)
	}
	if c.fails != nil {
		return provider.Batch{}, c.fails
	}
	var n int
	if _, err := fmt.Sscan(cursor, &n); err != nil && cursor != "" {
		return provider.Batch{}, err
	}
	if n >= len(c.batches) {
		return provider.Batch{Cursor: cursor}, nil
	}
	out := c.batches[n]
	out.Cursor, out.More = fmt.Sprint(n+1), n+1 < len(c.batches)
	return out, nil
}

func (c *custodian) Inclusion(_ context.Context, _ chain.Network, hash string) (provider.Inclusion, error) {
	at, answers, err := c.inclusion(hash)
	if answers != nil {
		answers(hash)
	}
	return at, err
}

func (c *custodian) inclusion(hash string) (at provider.Inclusion, answers func(hash string), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return provider.Inclusion{}, nil, errors.New("away")
	}
	at = c.at[hash]
	at.Head = c.head
	return at, c.answers, nil
}

// world is the Service under test on a database, with a clock that the test advances.
type world struct {
	*crypto.Service
	t      testing.TB
	clock  *clock.Manual
	node   *custodian
	book   *ledger.Book
	worker *job.Worker
	cases  *operation.Service
	feed   *event.Service

	running *atomic.Pointer[crypto.Service] // the program whose jobs run
}

// run replaces the program, as a restart with other settings does.
func (w *world) run(s *crypto.Service) {
	w.Service = s
	w.running.Store(s)
}

func newWorld(t testing.TB, d *db.DB) *world {
	t.Helper()
	w := &world{t: t, clock: clock.At(zero), node: newCustodian(), running: &atomic.Pointer[crypto.Service]{}}
	w.book = ledger.New(d, w.clock)
	t.Cleanup(w.book.Drain)
	for _, company := range []string{a, b} {
		u := ledger.Found(company)
		if err := w.book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	w.cases = operation.NewService(d, w.book, w.clock, log, 2*time.Second)
	w.feed = event.NewService(d, w.book)
	w.run(w.program(d))
	w.worker = job.NewWorker(d, w.clock, log, job.Config{Kinds: map[string]job.Work{
		crypto.WatchJob:   func(ctx context.Context, j job.Job) (time.Time, error) { return w.running.Load().Watch(ctx, j) },
		crypto.ConfirmJob: func(ctx context.Context, j job.Job) (time.Time, error) { return w.running.Load().Confirm(ctx, j) },
	}})
	working, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan struct{})
	go func() { w.worker.Run(working); close(stopped) }()
	t.Cleanup(func() { stop(); <-stopped })
	return w
}

// program returns the Service of a new program on the database.
func (w *world) program(d *db.DB) *crypto.Service {
	return w.programWith(d, crypto.Custody{Name: "node", Plug: w.node, Networks: networks})
}

// networks are the networks that have a custodian.
var networks = []string{eth, tron, "bitcoin-testnet", "polygon-amoy"}

func newCustodian() *custodian {
	return &custodian{watched: map[string]bool{}, at: map[string]provider.Inclusion{}, head: 100}
}

// programWith returns the Service of a new program with other custodians.
func (w *world) programWith(d *db.DB, custodies ...crypto.Custody) *crypto.Service {
	house := map[chain.Kind]chain.Key{}
	for kind, text := range chain.PublicTestKeys {
		k, err := chain.ParseHouseKey(text)
		if err != nil {
			w.t.Fatal(err)
		}
		house[kind] = k
	}
	delete(house, chain.Bitcoin)
	settlements := settlement.New(settlement.Config{DB: d, Book: w.book, Clock: w.clock, Operations: w.cases})
	return crypto.New(crypto.Config{
		DB: d, Book: w.book, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Operations: w.cases, Ask: settlements.Ask,
		Networks: chain.Testnets(), HouseKeys: house, Custodies: custodies,
	})
}

func (w *world) address(company, network string) crypto.Address {
	w.t.Helper()
	got, err := w.Generate(w.t.Context(), crypto.Generation{Company: company, NetworkID: network})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// moved returns a deposit of the native asset to an address.
func moved(to crypto.Address, hash string, units, block int64) provider.Movement {
	m := provider.Movement{
		NetworkID: to.NetworkID, Address: to.Address, Counter: far, Units: big.NewInt(units), Hash: hash, Block: block,
		Raw: json.RawMessage(`{"said":"so"}`),
	}
	if block > 0 {
		m.BlockHash = fmt.Sprintf("hash-%d", block)
	}
	return m
}

// unhashed returns a report of a vendor, which does not name the hash of the block.
func unhashed(m provider.Movement) provider.Movement {
	m.BlockHash = ""
	return m
}

// tell sends movements to Kobo in a custodian's notification, and waits until no job is due.
func (w *world) tell(movements ...provider.Movement) {
	w.t.Helper()
	w.notify(movements...)
	w.settled()
}

func (w *world) notify(movements ...provider.Movement) {
	w.t.Helper()
	body, err := json.Marshal(movements)
	if err == nil {
		err = w.Receive(w.t.Context(), "node", http.Header{"Signed": {"yes"}}, body)
	}
	if err != nil {
		w.t.Error(err)
	}
}

// inTheMeantime calls do once, after the next reply about a transaction and before Kobo uses the reply.
func (w *world) inTheMeantime(do func()) {
	var once sync.Once
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	w.node.answers = func(string) { once.Do(do) }
}

// chain sets a transaction's block and the number of the chain's latest block. Block 0 removes the
// transaction from the chain.
func (w *world) chain(hash string, block, head int64) {
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	w.node.head = head
	w.node.at[hash] = provider.Inclusion{Found: block > 0, Block: block, BlockHash: fmt.Sprintf("hash-%d", block)}
	if block == 0 {
		delete(w.node.at, hash)
	}
}

// later advances the clock and waits until no job is due.
func (w *world) later(by time.Duration) {
	w.t.Helper()
	w.clock.Advance(by)
	w.settled()
}

func (w *world) settled() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.worker.Settled(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// states returns the type, the state and the block of each of the company's transactions, oldest
// first.
func (w *world) states(company string) string {
	w.t.Helper()
	list, total, err := w.Transactions(w.t.Context(), company, crypto.TransactionFilter{}, 0, 100)
	if err != nil || total != len(list) {
		w.t.Fatalf("%d of %d: %v", len(list), total, err)
	}
	var out []string
	for _, one := range list {
		out = append([]string{fmt.Sprintf("%s %s %d", one.Type, one.Status, one.Block)}, out...)
	}
	return strings.Join(out, ", ")
}

// events returns the kinds of the company's events, without the prefix "crypto.".
func (w *world) events(company string) string {
	w.t.Helper()
	list, _, err := w.feed.Feed(w.t.Context(), company, 0, 1000, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, strings.TrimPrefix(e.Kind, "crypto."))
	}
	return strings.Join(out, " ")
}

// latest returns the company's latest transaction.
func (w *world) latest(company string) crypto.Transaction {
	w.t.Helper()
	list, _, err := w.Transactions(w.t.Context(), company, crypto.TransactionFilter{}, 0, 1)
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%+v %v", list, err)
	}
	return list[0]
}

func (w *world) want(company, states, events string) {
	w.t.Helper()
	if got := w.states(company); got != states {
		w.t.Errorf("the history is %q, want %q", got, states)
	}
	// The jobs of two transactions may end in any order, so the events are compared in sorted
	// order.
	got, wanted := strings.Fields(w.events(company)), strings.Fields(events)
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		w.t.Errorf("the events are %q, want %q", got, wanted)
	}
}
