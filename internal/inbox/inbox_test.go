package inbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// bank is a fake bank with a list of credits. Its notifications are notice values as JSON.
type bank struct {
	mu      sync.Mutex
	credits []provider.Inbound
	asked   int
	away    bool
	// unlisted is the number of an account that is not on the bank's list of accounts.
	unlisted string
	quiet    []string          // the numbers of accounts without credits
	wrong    map[string]string // the error codes of accounts whose credits the bank does not list
	read     map[string]int    // how many pages of credits were requested, by account
}

// own is the number of our own account.
const own = "0100000001"

type notice struct {
	Kind      provider.NotificationKind
	Session   string
	Reference string
	Account   string
	Amount    money.Kobo
	Padding   string
}

func (b *bank) ParseNotification(body []byte) (provider.Notification, error) {
	var n notice
	if err := json.Unmarshal(body, &n); err != nil {
		return provider.Notification{}, err
	}
	if n.Kind == "panic" {
		panic("a plug's mistake")
	}
	return provider.Notification{Kind: n.Kind, SessionID: n.Session, Reference: n.Reference, Account: n.Account, Amount: n.Amount}, nil
}

func (b *bank) Inbound(_ context.Context, session string, _ bool) provider.InboundAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	for _, c := range b.credits {
		if c.SessionID == session && !b.away {
			return provider.InboundAnswer{Answer: provider.Answer{Outcome: c.Outcome}, Credit: c}
		}
	}
	return provider.InboundAnswer{Answer: provider.Answer{Missing: !b.away}}
}

// page is the number of credits on one page of the bank's list, and shelf is that of accounts.
const (
	page  = 3
	shelf = 20
)

// Receiving lists our own account, the accounts of the credits, and the quiet accounts.
func (b *bank) Receiving(_ context.Context, at int) (found []provider.Receiving, more bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, false, &provider.Error{Provider: "bank", Code: provider.CodeTimeout}
	}
	numbers := append([]string{own}, b.quiet...)
	for _, c := range b.credits {
		if c.CreditAccount != b.unlisted && !slices.Contains(numbers, c.CreditAccount) {
			numbers = append(numbers, c.CreditAccount)
		}
	}
	first, last := min(at*shelf, len(numbers)), min((at+1)*shelf, len(numbers))
	for _, number := range numbers[first:last] {
		found = append(found, provider.Receiving{ID: "id-" + number, Number: number, Main: number == own})
	}
	return found, last < len(numbers), nil
}

// InboundSince lists the credits of one account. It refuses a list without an account.
func (b *bank) InboundSince(_ context.Context, id string, from time.Time, at int) (found []provider.Inbound, more bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read == nil {
		b.read = map[string]int{}
	}
	b.read[id]++
	if code := b.wrong[id]; code != "" {
		return nil, false, &provider.Error{Provider: "bank", Code: code}
	}
	if b.away {
		return nil, false, &provider.Error{Provider: "bank", Code: provider.CodeTimeout}
	}
	for i := len(b.credits) - 1; i >= 0; i-- {
		if !b.credits[i].At.Before(from) && "id-"+b.credits[i].CreditAccount == id {
			found = append(found, b.credits[i])
		}
	}
	first, last := min(at*page, len(found)), min((at+1)*page, len(found))
	return found[first:last], last < len(found), nil
}

// book adds a credit to the bank's list.
func (b *bank) book(c provider.Inbound) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.credits = append(b.credits, c)
}

func (b *bank) change(f func(b *bank)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b)
}

// house is a program with an inbox, for these tests. Several programs may share a database.
type house struct {
	*inbox.Service
	t           testing.TB
	db          *db.DB
	book        *ledger.Book
	clock       *clock.Manual
	bank        *bank
	worker      *job.Worker
	settlements *settlement.Service
	operations  *operation.Service
	log         *bytes.Buffer
	server      *httptest.Server
}

var me = operator.Local("test")

// shared contains what all programs of one test share.
type shared struct {
	db    *db.DB
	clock *clock.Manual
	bank  *bank
	keys  *secret.Keyring
}

func newShared(t testing.TB, d *db.DB) shared {
	t.Helper()
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	return shared{d, clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), &bank{}, keys}
}

// open returns a program whose worker is not running yet.
func (w shared) open(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, db: w.db, clock: w.clock, bank: w.bank, log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(lines{h.log, &sync.Mutex{}}, nil))
	h.book = ledger.New(w.db, w.clock)
	h.operations = operation.NewService(w.db, h.book, w.clock, log, time.Second)
	h.settlements = settlement.New(settlement.Config{DB: w.db, Book: h.book, Clock: w.clock, Operations: h.operations})
	h.Service = inbox.NewService(inbox.Config{
		DB: w.db, Keys: w.keys, Clock: w.clock, Log: log,
		Banks:   map[string]provider.Receiver{"bank": w.bank},
		Period:  6 * time.Hour,
		Receive: h.settlements.Receive,
		Ask: func(ctx context.Context, subject string, d inbox.Doubt, detail string) error {
			return h.settlements.Ask(ctx, subject, operation.Reason(d), detail)
		},
		Payout: func(context.Context, string) error { return fault.New(fault.Missing, "Payout not found") },
		Stored: func() { h.worker.Wake() },
	})
	h.worker = job.NewWorker(w.db, w.clock, log, h.Jobs())
	mux := http.NewServeMux()
	mux.Handle(inbox.Pattern, h.CallbackHandler())
	h.server = httptest.NewServer(mux)
	t.Cleanup(func() { h.server.Close(); h.Drain(); h.book.Drain() })
	return h
}

type lines struct {
	to *bytes.Buffer
	mu *sync.Mutex
}

func (l lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

// begins runs the program's worker until the test ends.
func (h *house) begins() *house {
	h.t.Helper()
	if err := h.Begin(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(h.t.Context()))
	done := make(chan struct{})
	go func() { h.worker.Run(ctx); close(done) }()
	h.t.Cleanup(func() { stop(); <-done })
	return h
}

// each runs f with a running program, on both databases.
func each(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { f(t, newShared(t, d).open(t).begins()) })
}

// post sends a notification and returns the status of the response.
func (h *house) post(path, body string) int {
	r, err := http.Post(h.server.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		h.t.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.StatusCode
}

func (h *house) notify(n notice) {
	h.t.Helper()
	b, err := json.Marshal(n)
	if err != nil {
		h.t.Fatal(err)
	}
	if status := h.post(h.Path("bank"), string(b)); status != http.StatusOK {
		h.t.Errorf("status %d", status)
	}
}

// settled waits until no job is due.
func (h *house) settled() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	if err := h.worker.Settled(ctx); err != nil {
		h.t.Fatal(err)
	}
}

// fed creates a company with a settlement account, and returns the settlement account. Credits to
// the bank account with this number go to the settlement account.
func (h *house) fed(number string) settlement.Account {
	h.t.Helper()
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		h.t.Fatal(err)
	}
	c, _, err := company.New(h.db, h.book, keys, h.clock).Create(h.t.Context(), me, "Acme")
	if err != nil {
		h.t.Fatal(err)
	}
	a, err := h.settlements.Create(h.t.Context(), me, c.Reference, "Main")
	if err == nil {
		err = h.settlements.Feed(h.t.Context(), me, c.Reference, a.ID, settlement.BankAccount{Number: number, BankCode: "090286"})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) holds(a settlement.Account, want money.Kobo) {
	h.t.Helper()
	if got, err := h.settlements.Find(h.t.Context(), a.Company, a.ID); err != nil || got.Balance != want {
		h.t.Errorf("account %d holds %s, %v; want %s", a.ID, got.Balance, err, want)
	}
	if i, err := report.New(h.db, h.clock).Integrity(h.t.Context(), a.Company); err != nil || !i.Intact() {
		h.t.Errorf("%v, %v", i.Wrongs, err)
	}
}

func (h *house) cases(reason operation.Reason) (found []operation.Case) {
	h.t.Helper()
	list, _, err := h.operations.Cases(h.t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range list {
		if c.Reason == reason {
			found = append(found, c)
		}
	}
	return found
}

// states returns the number of notifications in each state.
func (h *house) states() map[string]int {
	h.t.Helper()
	all, err := db.All(h.t.Context(), h.db, db.Value[string], `SELECT state FROM inbox_notification`)
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]int{}
	for _, s := range all {
		out[s]++
	}
	return out
}

func (h *house) credit(session, account string, amount money.Kobo) provider.Inbound {
	return provider.Inbound{
		Outcome: provider.Confirmed, SessionID: session, CreditAccount: account, Amount: amount, At: h.clock.Now(), Status: "completed",
	}
}

var errRefused = errors.New("refused")
