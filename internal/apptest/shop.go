package apptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// Bundle is a data bundle of the catalogue.
type Bundle struct {
	Category, Product, Name string
	Price                   money.Kobo
}

// Bundles returns all data bundles by network, with the cheapest first.
func (c *Client) Bundles() []Bundle {
	c.t.Helper()
	var services []struct{ ServiceID, ServiceName string }
	c.Data("/api/v1/vtu/services", &services)
	var out []Bundle
	for _, s := range services {
		if s.ServiceName != "Data" {
			continue
		}
		var categories []struct{ ServiceCategoryID string }
		c.Data("/api/v1/vtu/service/"+s.ServiceID+"/categories", &categories)
		for _, k := range categories {
			var products []struct {
				CategoryProductID, CategoryProductName string
				Amount                                 money.Text
			}
			c.Data("/api/v1/vtu/category/"+k.ServiceCategoryID+"/products", &products)
			for _, p := range products {
				out = append(out, Bundle{k.ServiceCategoryID, p.CategoryProductID, p.CategoryProductName, money.Kobo(p.Amount)})
			}
		}
	}
	return out
}

// Bundle returns one data bundle, which is the same for every test.
func (c *Client) Bundle() Bundle {
	c.t.Helper()
	for _, b := range c.Bundles() {
		return b
	}
	c.t.Fatal("no data bundle is on sale")
	return Bundle{}
}

// Order is the body of POST /vtu/purchase-data.
type Order struct {
	IdempotencyKey    string `json:"idempotencyKey"`
	ServiceCategoryID string `json:"serviceCategoryId"`
	ProductID         string `json:"productId"`
	PhoneNumber       string `json:"phoneNumber"`
	SettlementID      int64  `json:"settlementId"`
}

// Order returns an order of the bundle for a phone number with this ending. The last two digits of
// the phone number choose what the sandbox does with the order.
func (c *Client) Order(b Bundle, key, ending string) Order {
	return Order{key, b.Category, b.Product, "080312345" + ending, c.SettlementID}
}

// PurchaseData is the path for purchases of data.
const PurchaseData = "/api/v1/vtu/purchase-data"

// Buy sends an order of a data bundle.
func (c *Client) Buy(o Order, headers ...string) Answer {
	c.t.Helper()
	return c.Do(http.MethodPost, PurchaseData, o, headers...)
}

// Transaction is a purchase as the API shows it. Raw is its JSON.
type Transaction struct {
	TransactionID, Status, IdempotencyKey string
	Amount                                money.Text
	SettlementID                          int64
	Message, ProviderReference            *string
	Refunded                              bool
	CreatedAt, UpdatedAt                  time.Time
	Raw                                   json.RawMessage `json:"-"`
}

// Bought returns the transaction in the response to an order.
func (c *Client) Bought(a Answer) Transaction {
	c.t.Helper()
	var b struct {
		Success bool
		Data    Transaction
	}
	a.Want(c.t, http.StatusOK).Into(c.t, &b)
	if !b.Success || b.Data.TransactionID == "" {
		c.t.Fatalf("not a purchase: %s", a)
	}
	return b.Data
}

// Transaction returns the purchase with this ID or key.
func (c *Client) Transaction(idOrKey string) Transaction {
	c.t.Helper()
	var raw json.RawMessage
	c.Data("/api/v1/vtu/transaction/"+url.PathEscape(idOrKey), &raw)
	return c.transaction(raw)
}

func (c *Client) transaction(raw json.RawMessage) Transaction {
	c.t.Helper()
	tr := Transaction{Raw: raw}
	if err := json.Unmarshal(raw, &tr); err != nil {
		c.t.Fatalf("not a transaction: %v: %s", err, raw)
	}
	return tr
}

// Transactions returns all the company's purchases, newest first.
func (c *Client) Transactions() []Transaction {
	c.t.Helper()
	var out []Transaction
	for page := 1; ; page++ {
		var list struct {
			Data []json.RawMessage
			Meta struct{ HasNextPage bool }
		}
		c.Data(fmt.Sprintf("/api/v1/vtu/transactions?pageSize=100&page=%d", page), &list)
		for _, raw := range list.Data {
			out = append(out, c.transaction(raw))
		}
		if !list.Meta.HasNextPage {
			return out
		}
	}
}

// Balance returns the balance of a settlement account of the company.
func (c *Client) Balance(settlementID int64) money.Kobo {
	c.t.Helper()
	var accounts []struct {
		ID      int64
		Balance money.Kobo
	}
	c.Data("/api/v1/settlement/accounts", &accounts)
	for _, a := range accounts {
		if a.ID == settlementID {
			return a.Balance
		}
	}
	c.t.Fatalf("there is no settlement account %d", settlementID)
	return 0
}

// Event is one event in a company's feed.
type Event struct {
	ID        string
	Sequence  int64
	Event     string
	CreatedAt time.Time
	Data      json.RawMessage
}

// Events returns the events of the company's feed after a sequence number.
func (c *Client) Events(after int64) []Event {
	c.t.Helper()
	var out []Event
	for {
		var feed struct {
			Data    []Event
			HasMore bool
		}
		c.Data("/api/v1/events?limit=1000&after="+strconv.FormatInt(after, 10), &feed)
		out = append(out, feed.Data...)
		if !feed.HasMore {
			return out
		}
		after = out[len(out)-1].Sequence
	}
}

// Outcome is the state of an operation in the list of outcomes.
type Outcome struct {
	Reference, Status      string
	Attempts               int
	LastAnswer             *string
	LastAskedAt, NextTryAt *time.Time
	NeedsDecision          bool
	UpdatedAt              time.Time
}

// Outcome returns the outcome of an operation.
func (c *Client) Outcome(reference string) Outcome {
	c.t.Helper()
	var o Outcome
	c.Data("/api/v1/outcomes/"+url.PathEscape(reference), &o)
	return o
}

// Open returns the operations without a known outcome.
func (c *Client) Open() []Outcome {
	c.t.Helper()
	var list struct{ Data []Outcome }
	c.Data("/api/v1/outcomes?pageSize=100", &list)
	return list.Data
}

// Advance moves the sandbox's clock. On a busy machine it moves the clock a few milliseconds further until the work
// that became due is done, for at most half a minute.
func (c *Client) Advance(d time.Duration) {
	c.t.Helper()
	for range 10 {
		a := c.advance(d)
		if a.Status != http.StatusOK {
			c.t.Fatalf("the clock was not moved: %s", a)
		}
		var moved struct{ Settled bool }
		if a.Into(c.t, &moved); moved.Settled {
			return
		}
		d = time.Millisecond
	}
}

func (c *Client) advance(d time.Duration) Answer {
	c.t.Helper()
	a, err := c.Raw(c.t.Context(), http.MethodPost, "/sandbox/clock", map[string]string{"advance": d.String()})
	if err != nil {
		c.t.Fatalf("the clock was not moved: %v", err)
	}
	return a
}

// Sale is what the simulated provider recorded about the payment with one reference.
type Sale struct {
	Reference            string
	Amount               money.Kobo
	Executions, Requests int64
	Denied               int64  // how often the provider did not know the reference, before it had it
	Number               string // the masked number of who got it
}

// Sales returns the provider's records, by our reference.
func (c *Client) Sales() map[string]Sale {
	c.t.Helper()
	a, err := c.Raw(c.t.Context(), http.MethodGet, "/sandbox/provider-ledger", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	var list struct{ Data []Sale }
	a.Want(c.t, http.StatusOK).Into(c.t, &list)
	out := map[string]Sale{}
	for _, s := range list.Data {
		if _, twice := out[s.Reference]; twice {
			c.t.Errorf("the provider lists %s twice", s.Reference)
		}
		out[s.Reference] = s
	}
	return out
}

// Audit compares everything that the API shows about the company with the payments that the
// providers executed. It checks that no purchase was paid twice and no kobo was lost. The argument
// opening is the opening balance of the settlement account.
func (c *Client) Audit(t testing.TB, opening money.Kobo) []Transaction {
	t.Helper()
	p := c.picture(t)
	spent := money.Kobo(0)
	for _, tr := range p.transactions {
		sale, executed := p.sales[tr.TransactionID]
		if tr.SettlementID == c.SettlementID && tr.Status != "FAILED" {
			spent += money.Kobo(tr.Amount)
		}
		switch {
		case executed && (sale.Executions != 1 || sale.Amount != money.Kobo(tr.Amount)):
			t.Errorf("%s was executed %d times for %s, not once for %s", tr.TransactionID, sale.Executions, sale.Amount, money.Kobo(tr.Amount))
		case tr.Status == "SUCCESS" && !executed:
			t.Errorf("%s is SUCCESS and was never executed", tr.TransactionID)
		case tr.Status == "FAILED" && executed:
			t.Errorf("%s is FAILED and was executed", tr.TransactionID)
		}
		if tr.Refunded != (tr.Status == "FAILED") {
			t.Errorf("%s is %s, refunded: %v", tr.TransactionID, tr.Status, tr.Refunded)
		}
		delete(p.sales, tr.TransactionID)
	}
	for reference := range p.sales {
		t.Errorf("the provider executed %s, which we do not know", reference)
	}
	if p.balance != opening-spent {
		t.Errorf("the balance is %s; %s less %s are %s", p.balance, opening, spent, opening-spent)
	}
	c.intact(t)
	told(t, p.events, p.transactions)
	return p.transactions
}

// picture is everything that the API shows about a company at one moment.
type picture struct {
	transactions []Transaction
	sales        map[string]Sale
	balance      money.Kobo
	events       []Event
}

// picture reads all data, and reads it again until nothing changes during the reading. The resolver
// may change operations at any time, and each change has an event.
func (c *Client) picture(t testing.TB) picture {
	t.Helper()
	for range 20 {
		before := c.Events(0)
		p := picture{c.Transactions(), c.Sales(), c.Balance(c.SettlementID), c.Events(0)}
		if len(p.events) == len(before) {
			return p
		}
	}
	t.Fatal("something happens all the time")
	return picture{}
}

// intact fails the test unless the API reports that the ledger adds up.
func (c *Client) intact(t testing.TB) {
	t.Helper()
	var found struct {
		Intact   bool
		InFlight struct{ Intact bool }
	}
	a := c.Do(http.MethodGet, "/api/v1/integrity", nil).Want(t, http.StatusOK)
	var envelope struct{ Data json.RawMessage }
	a.Into(t, &envelope)
	if err := json.Unmarshal(envelope.Data, &found); err != nil || !found.Intact || !found.InFlight.Intact {
		t.Errorf("the ledger does not add up: %s", a)
	}
}

// told checks that the feed's numbers have no gap. It also checks that each purchase has one
// event for its beginning and then one for its outcome.
func told(t testing.TB, events []Event, transactions []Transaction) {
	t.Helper()
	kinds := map[string]string{}
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Sequence)
		}
		var d struct{ TransactionID string }
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		if d.TransactionID != "" {
			kinds[d.TransactionID] += e.Event + " "
		}
	}
	want := map[string]string{
		"PENDING": "vtu.pending ", "SUCCESS": "vtu.pending vtu.success ", "FAILED": "vtu.pending vtu.failed ",
	}
	for _, tr := range transactions {
		if kinds[tr.TransactionID] != want[tr.Status] {
			t.Errorf("of %s, which is %s, the feed says %q", tr.TransactionID, tr.Status, kinds[tr.TransactionID])
		}
		delete(kinds, tr.TransactionID)
	}
	for id, said := range kinds {
		t.Errorf("the feed says %q of %s, which does not exist", said, id)
	}
}
