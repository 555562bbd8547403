package payout_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// bank is a fake Payer whose replies a test sets. It records the requests.
type bank struct {
	mu       sync.Mutex
	name     string // the account name in every name enquiry's reply
	list     []provider.BankCode
	enquiry  provider.Outcome
	answer   provider.TransferAnswer // the reply to a transfer
	later    provider.TransferAnswer // the reply to a requery
	sent     []provider.TransferOrder
	requests int // the number of name enquiries
	polls    int
	asked    func() // runs during a requery
	slow     func() // runs during a name enquiry
}

func (b *bank) Banks(context.Context) ([]provider.BankCode, error) { return b.list, nil }

func (b *bank) NameEnquiry(_ context.Context, code, account string) provider.NameAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests++
	if b.slow != nil {
		b.slow()
	}
	a := provider.NameAnswer{Name: b.name, BankCode: code, Account: account, Session: "enquiry-" + string(rune('0'+b.requests))}
	a.Outcome = b.enquiry
	if account[len(account)-2:] == "99" {
		a.Outcome = provider.Rejected
	}
	return a
}

func (b *bank) Transfer(_ context.Context, t provider.TransferOrder) provider.TransferAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, t)
	return b.answer
}

func (b *bank) RequeryTransfer(context.Context, string) provider.TransferAnswer {
	b.mu.Lock()
	b.polls++
	answer, asked := b.later, b.asked
	b.mu.Unlock()
	if asked != nil {
		asked()
	}
	return answer
}

func (b *bank) says(now, later provider.TransferAnswer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer, b.later = now, later
}

// session is the session ID between the banks in the replies of the fake bank.
const session = "999240300102030405123456789012"

// The replies of the fake bank.
var (
	yes     = provider.TransferAnswer{Answer: provider.Answer{Outcome: provider.Confirmed, Code: "00"}, SessionID: session}
	no      = provider.TransferAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Code: "51", Message: "Beneficiary bank refused"}}
	silence = provider.TransferAnswer{Answer: provider.Answer{Code: provider.CodeTimeout}}
	unseen  = provider.TransferAnswer{Answer: provider.Answer{Code: "25", Missing: true}}
	back    = provider.TransferAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Code: "reversed", Reversed: true, Message: "Returned by the beneficiary bank"}, SessionID: session}
)

const pin = "1234"

var me = operator.Local("test")

// world contains the services under test, and a company that has ₦1,000 in one settlement account.
type world struct {
	*payout.Service
	t           *testing.T
	db          *db.DB
	book        *ledger.Book
	clock       *clock.Movable
	bank        *bank
	operations  *operation.Service
	settlements *settlement.Service
	companies   *company.Service
	company     string
	account     int64
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	w := &world{t: t, db: d, clock: &clock.Movable{}}
	w.book = ledger.New(d, w.clock)
	t.Cleanup(w.book.Drain)
	w.bank = &bank{name: "ADA  Obi", enquiry: provider.Confirmed, answer: yes, later: yes, list: []provider.BankCode{
		{Code: "999240", Name: "Safe Haven"}, {Code: "000014", Name: "Access Bank"}, {Code: "000013", Name: "GTBank"},
	}}
	w.operations = operation.NewService(d, w.book, w.clock, log, 2*time.Second)
	w.companies = company.New(d, w.book, keys, w.clock)
	w.settlements = settlement.New(settlement.Config{DB: d, Book: w.book, Clock: w.clock, Operations: w.operations})
	w.Service = payout.New(payout.Config{
		DB: d, Book: w.book, Clock: w.clock, Log: log, Companies: w.companies, Operations: w.operations, Settlements: w.settlements,
		Payers: provider.Only[provider.Payer]("bank", w.bank),
	})
	must(t, w.SyncDue(t.Context()))
	w.company, w.account = w.join("Main", 1000*money.Naira)
	must(t, w.companies.SetPIN(t.Context(), me, w.company, secret.NewText(pin)))
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// join creates a company with a settlement account, and credits the amount float to it. Join
// returns the company's reference and the account's ID.
func (w *world) join(name string, float money.Kobo) (string, int64) {
	w.t.Helper()
	c, _, err := w.companies.Create(w.t.Context(), me, name)
	must(w.t, err)
	return c.Reference, w.open(c.Reference, float)
}

func (w *world) open(company string, float money.Kobo) int64 {
	w.t.Helper()
	a, err := w.settlements.Create(w.t.Context(), me, company, "Account")
	must(w.t, err)
	if float > 0 {
		must(w.t, w.settlements.Fund(w.t.Context(), me, company, a.ID, float, "bank", "seed"))
	}
	return a.ID
}

// verify makes a name enquiry and returns its verify_id.
func (w *world) verify() string {
	w.t.Helper()
	v, err := w.Validate(w.t.Context(), payout.Enquiry{
		Company: w.company, BankCode: "000014", AccountNumber: "0123456789", PIN: secret.NewText(pin), SettlementID: w.account,
	})
	must(w.t, err)
	return v.ID
}

func (w *world) send(verifyID string, amount money.Kobo) (payout.Payout, error) {
	return w.Send(w.t.Context(), payout.Order{Company: w.company, VerifyID: verifyID, Amount: amount})
}

// sent sends a payout with a new verification and returns it. The test fails if the payout has
// a different status.
func (w *world) sent(amount money.Kobo, status operation.State) payout.Payout {
	w.t.Helper()
	p, err := w.send(w.verify(), amount)
	must(w.t, err)
	if p.Status != status {
		w.t.Fatalf("the payout is %s, not %s", p.Status, status)
	}
	return p
}

// refused checks that an error is a refusal with this message.
func (w *world) refused(err error, words string) {
	w.t.Helper()
	if err == nil || fault.Of(err).Message != words || fault.Of(err).Kind != fault.Refused {
		w.t.Errorf("want %q refused, got %v", words, err)
	}
}

// poll runs the resolver once for a payout.
func (w *world) poll(reference string) {
	w.t.Helper()
	_, err := w.operations.Resolve(w.t.Context(), job.Job{Company: w.company, Subject: reference})
	must(w.t, err)
}

func (w *world) forward(d time.Duration) { w.clock.MoveTo(w.clock.Offset() + d) }

// holds checks balances of the main company's ledger accounts, and verifies its ledger.
func (w *world) holds(want map[string]money.Kobo) {
	w.t.Helper()
	got, err := w.book.Balances(w.t.Context(), w.company)
	must(w.t, err)
	for account, k := range want {
		if got[account] != k {
			w.t.Errorf("%s holds %s, want %s", account, got[account], k)
		}
	}
	must(w.t, w.db.Snapshot(w.t.Context(), func(q db.Querier) error {
		r, err := ledger.Verify(w.t.Context(), q, w.company)
		for _, wrong := range r.Wrongs {
			w.t.Error(wrong)
		}
		return err
	}))
}

// own returns the name of the main settlement account's ledger account.
func (w *world) own() string { return settlement.LedgerAccount(w.account) }

// events returns the kinds of a payout's events. It also checks that the last event's data is the
// payout's current state.
func (w *world) events(reference string) []string {
	w.t.Helper()
	all, _, err := event.NewService(w.db, w.book).Feed(w.t.Context(), w.company, 0, 1000, 0)
	must(w.t, err)
	var kinds []string
	var last event.Event
	for _, e := range all {
		var data struct{ Reference string }
		must(w.t, json.Unmarshal(e.Data, &data))
		if data.Reference == reference {
			kinds, last = append(kinds, e.Kind), e
		}
	}
	p, err := w.Status(w.t.Context(), w.company, reference)
	must(w.t, err)
	now, err := json.Marshal(p)
	must(w.t, err)
	if string(now) != string(last.Data) {
		w.t.Errorf("the last event says\n%s, the payout is\n%s", last.Data, now)
	}
	return kinds
}
