package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// oldest is the age that a PENDING operation may have at the end of a day. A storm ends after two hours
// at most, and then the resolver asks within two hours.
const oldest = 4 * time.Hour

// denials is how often a provider must say that it does not know a payment, before the program may refund it.
const denials = 3

// check compares what the company sees, what the ledger says and what the providers did.
func (w *world) check() {
	w.t.Helper()
	w.life.Sound(w.t)
	w.intact()
	w.reconcile()
	w.listen()
	sales, bank := w.sales()
	spent, open := money.Kobo(0), 0
	for _, o := range w.orders {
		sale := sales[o.reference]
		delete(sales, o.reference)
		spent += w.judge(o, sale)
		if o.status == "PENDING" {
			open++
		}
		w.say("%s is %s, carried out %d times", o.name, o.status, sale.Executions)
	}
	for session, amount := range w.credits {
		if sales[session].Amount != amount {
			w.wrong("the bank lists a credit of %s as %s", amount, sales[session].Amount)
		}
		delete(sales, session)
	}
	for reference, sale := range sales {
		w.wrong("a provider carried out %s of %s, which the company does not know", reference, sale.Amount)
	}
	balance, want := w.client.Balance(w.client.SettlementID), money.Kobo(apptest.DevFloat)+w.paid-spent
	if balance != want {
		w.wrong("the balance is %s, and not %s", balance, want)
	}
	if open == 0 {
		w.compare(bank)
	}
	for _, v := range w.invoices {
		var c struct{ Status string }
		if w.client.Data("/api/v1/virtual-account/"+v.id, &c); c.Status != v.want {
			w.wrong("an invoice is %s, and not %s", c.Status, v.want)
		}
	}
	w.decide()
	w.say("balance %s, bank %s, %d events, %d open", balance, bank, w.news, open)
}

// judge checks an order against the provider's books, and returns what it has cost the company.
func (w *world) judge(o *order, sale apptest.Sale) (cost money.Kobo) {
	w.t.Helper()
	s, found := w.look(o)
	if !found {
		if sale.Executions > 0 {
			w.wrong("%s was never begun, and was carried out", o.name)
		}
		return 0
	}
	o.status = s.Status
	if o.reference == "" {
		w.wrong("%s was begun, and its reference was never told", o.name)
	}
	if o.kind == payout {
		o.fee = feeFlat + o.amount/100
		var told money.Kobo
		if err := json.Unmarshal(s.Fee, &told); err != nil {
			w.t.Fatalf("%s: fee %s: %v", o.name, s.Fee, err)
		}
		if told != o.fee {
			w.wrong("%s has the fee %s, and not %s", o.name, told, o.fee)
		}
	}
	paid, refunded := sale.Executions == 1, false
	switch o.status {
	case "SUCCESS":
		if !paid || sale.Amount != o.amount {
			w.wrong("%s is SUCCESS, and was carried out %d times for %s", o.name, sale.Executions, sale.Amount)
		}
		if o.returned {
			w.wrong("%s was returned, and is SUCCESS", o.name)
		}
	case "REVERSED":
		if refunded = true; !o.returned {
			w.wrong("%s is REVERSED, and was not returned", o.name)
		}
	case "FAILED":
		if refunded = true; sale.Executions > 0 && (!o.late || sale.Denied < denials) {
			w.wrong("%s is FAILED, and was carried out after %d denials", o.name, sale.Denied)
		}
	case "PENDING":
		if age := w.now().Sub(o.at); age > oldest {
			w.wrong("%s is PENDING after %s", o.name, age)
		}
	default:
		w.wrong("%s is %q", o.name, o.status)
	}
	if sale.Executions > 1 || s.Refunded != refunded {
		w.wrong("%s is %s, was carried out %d times, refunded: %v", o.name, o.status, sale.Executions, s.Refunded)
	}
	if sale.Executions > 0 {
		w.compareOrder(o, sale)
	}
	w.heard(o)
	if refunded {
		return 0
	}
	return o.amount + o.fee
}

// compareOrder compares what a provider carried out with the order: who got it, and how often the program has sent the request.
func (w *world) compareOrder(o *order, sale apptest.Sale) {
	most := int64(1)
	if o.what == doneTwice {
		most = 2
	}
	if sale.Requests < 1 || sale.Requests > most {
		w.wrong("%s, %s, was sent %d times", o.name, o.what, sale.Requests)
	}
	if n := len(o.to); n > 0 && (len(sale.Number) != n || sale.Number[:4] != o.to[:4] || sale.Number[n-2:] != o.to[n-2:]) {
		w.wrong("%s went to %s, not to %s", o.name, sale.Number, o.to)
	}
}

// words are the events of a kind of order, in their order: the beginning, then the outcome.
var words = map[string]map[string]string{
	"vtu":  {"PENDING": "vtu.pending", "SUCCESS": "vtu.pending vtu.success", "FAILED": "vtu.pending vtu.failed"},
	payout: {"PENDING": "payout.pending", "SUCCESS": "payout.pending payout.success", "FAILED": "payout.pending payout.failed", "REVERSED": "payout.pending payout.success payout.reversed"},
	card:   {"PENDING": "card.funding_pending", "SUCCESS": "card.funding_pending card.funded", "FAILED": "card.funding_pending card.funding_failed"},
}

// heard checks the events of an order.
func (w *world) heard(o *order) {
	w.t.Helper()
	kind := o.kind
	if kind == data || kind == airtime {
		kind = "vtu"
	}
	if got, want := strings.TrimSpace(w.kinds[o.reference]), words[kind][o.status]; got != want {
		w.wrong("%s is %s, and its events are %q", o.name, o.status, got)
	}
}

// listen reads the new events, which must have no gap.
func (w *world) listen() {
	w.t.Helper()
	for _, e := range w.client.Events(w.events) {
		if w.events++; e.Sequence != w.events {
			w.t.Fatalf("day %d: event %d has the number %d", w.day, w.events, e.Sequence)
		}
		var d struct{ TransactionID, Reference string }
		if err := json.Unmarshal(e.Data, &d); err != nil {
			w.t.Fatal(err)
		}
		if e.Event != event.CheckpointSigned {
			w.news++
		}
		area, _, _ := strings.Cut(e.Event, ".")
		if area == "vtu" || area == payout || area == card {
			w.kinds[d.TransactionID+d.Reference] += e.Event + " "
		}
	}
}

// intact fails the test if the ledger of a company does not add up.
func (w *world) intact() {
	w.t.Helper()
	for _, company := range w.companies() {
		i, err := w.life.App.Reports.Integrity(w.t.Context(), company)
		if err != nil || !i.Intact() {
			w.wrong("the ledger of %s does not add up: %v, %v", company, i.Wrongs, err)
		}
	}
}

// companies returns all companies with a ledger.
func (w *world) companies() []string {
	w.t.Helper()
	list, err := w.life.App.Reports.Companies(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// sales returns what the providers carried out by reference, and the balance of our account at the
// bank.
func (w *world) sales() (map[string]apptest.Sale, money.Kobo) {
	w.t.Helper()
	a, err := w.client.Raw(w.t.Context(), http.MethodGet, "/sandbox/provider-ledger", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var list struct {
		Balance money.Kobo
		Data    []apptest.Sale
	}
	a.Want(w.t, http.StatusOK).Into(w.t, &list)
	out := map[string]apptest.Sale{}
	for _, s := range list.Data {
		if _, is := out[s.Reference]; is {
			w.wrong("a provider lists %s twice", s.Reference)
		}
		out[s.Reference] = s
	}
	return out, list.Balance
}

// reconcile compares the bank's statement with the ledger. Only payments that the bank carried out after
// their refund may differ.
func (w *world) reconcile() {
	w.t.Helper()
	all, err := w.life.App.Reconcile(w.t.Context(), app.Reach)
	if err != nil {
		w.t.Fatalf("day %d: %v", w.day, err)
	}
	for _, r := range all {
		for _, b := range r.Breaks {
			if !w.isLate(b.Subject) {
				w.wrong("the statement differs: %s %s %s: %s", b.Reason, b.Company, b.Subject, b.Detail)
			}
		}
	}
}

// isLate reports whether an operation is one that the provider carried out late.
func (w *world) isLate(reference string) bool {
	for _, o := range w.orders {
		if o.reference == reference {
			return o.late
		}
	}
	return false
}

// compare compares the bank's balance with the ledger, when no operation is open.
func (w *world) compare(bank money.Kobo) {
	w.t.Helper()
	ledger := money.Kobo(0)
	for _, company := range w.companies() {
		balance, err := w.life.App.Book.Balance(w.t.Context(), company, settlement.ProviderAccount("safehaven"))
		if err != nil && !fault.Is(err, fault.Missing) {
			w.t.Fatal(err)
		}
		ledger -= balance
	}
	lost := money.Kobo(0) // paid by the bank after the refund
	sales, _ := w.sales()
	for _, o := range w.orders {
		if o.status == "FAILED" && sales[o.reference].Executions == 1 {
			lost += o.amount
		}
	}
	if want := books.OpeningFloat - apptest.DevFloat + ledger - lost; bank != want {
		w.wrong("the bank has %s, and the ledger says %s", bank, want)
	}
}

// decide closes the cases about payments that a provider carried out after their refund. No other case
// may be open.
func (w *world) decide() {
	w.t.Helper()
	list, _, err := w.life.App.Operations.Cases(w.t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range list {
		if !w.isLate(c.Subject) {
			w.wrong("a case is open: %s %s: %s", c.Reason, c.Subject, c.Detail)
			continue
		}
		for _, o := range w.orders {
			o.told = o.told || o.reference == c.Subject
		}
		for _, key := range []string{w.client.AdminKey, w.client.SecondAdminKey} {
			a, err := w.client.Raw(w.t.Context(), http.MethodPost, "/admin/v1/cases/"+c.ID+"/resolve",
				map[string]string{"outcome": operation.Dismissed, "note": "the provider has paid"}, "Authorization", "Bearer "+key)
			if err != nil || a.Status != http.StatusOK {
				w.t.Fatalf("%s, %v", a, err)
			}
		}
	}
}

// settle lets two days pass without faults. Then nothing may be open.
func (w *world) settle() {
	w.t.Helper()
	w.day, w.step = w.day+1, 0
	for range 12 {
		w.advance(4 * time.Hour)
	}
	w.check()
	sales, _ := w.sales()
	for _, o := range w.orders {
		switch {
		case o.status == "PENDING":
			w.wrong("%s is still PENDING", o.name)
		case o.status == "FAILED" && sales[o.reference].Executions > 0 && !o.told:
			w.wrong("%s was carried out after its refund, and nobody was told", o.name)
		}
	}
}
