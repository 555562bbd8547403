package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/money"
)

// These are the kinds of orders. A "name" of an order is its kind and its number.
const (
	data    = "data"
	airtime = "airtime"
	payout  = "payout"
	card    = "card"
)

// order is a payment that the company asks for.
type order struct {
	kind, name, path string
	body             map[string]any
	amount, fee      money.Kobo
	to               string // the phone or the account that gets it; "" for a card
	reference        string // of the operation; "" if the program has told none
	status           string // as the API shows it; "" if nothing was begun
	at               time.Time
	what             string // the fault, or the story
	late             bool   // the provider carries the payout out much later than asked
	returned         bool   // the bank has returned the payout
	told             bool   // the operators were told that a refunded payment was carried out
}

// answer is the body of an answer to an order, whatever its kind.
type answer struct {
	Message, Error string
	Data           struct{ TransactionID, Reference, Status string }
}

// attempts is how often the company sends an order until it has an answer.
const attempts = 20

// send sends a request until its answer comes. It starts the program again after a crash.
func (w *world) send(path string, body any, key string) apptest.Answer {
	w.t.Helper()
	for range attempts {
		a, err := w.client.Try(w.t.Context(), http.MethodPost, path, body, "Idempotency-Key", key)
		w.revive()
		if err == nil && a.Status != http.StatusConflict && a.Status != http.StatusServiceUnavailable {
			return a
		}
		w.wait(10 * time.Second) // 503 means that the program does not call a provider for a while after a storm
	}
	w.t.Fatalf("day %d step %d: %s has no answer", w.day, w.step, key)
	return apptest.Answer{}
}

// submit sends an order until it is answered.
func (w *world) submit(o *order) {
	w.t.Helper()
	a := w.send(o.path, o.body, o.name)
	var said answer
	a.Into(w.t, &said)
	if reference := said.Data.TransactionID + said.Data.Reference; reference != "" {
		o.reference = reference
	}
	o.status = "" // the checks read the status
	w.orders = append(w.orders, o)
	w.report.Operations++
	result := "answered" // with a fault, a notification may bring the outcome before the answer or after it
	if o.what == "" {
		o.what, result = "no fault", outcome(a, said)
	}
	w.say("%s of %s, %s: %s", o.name, o.amount, o.what, result)
}

// outcome returns what an answer says.
func outcome(a apptest.Answer, said answer) string {
	words := said.Message + said.Error
	switch {
	case strings.HasSuffix(words, "Your balance has been refunded."):
		return "declined"
	case strings.Contains(words, "being confirmed"), a.Status == http.StatusOK && said.Data.Status == "PENDING":
		return "pending"
	case a.Status == http.StatusOK:
		return "success"
	}
	return fmt.Sprintf("refused: %s", words)
}

// twice sends an order twice at once, and waits for both answers. If both say what became of the order, they say the same.
func (w *world) twice(o *order) {
	var all sync.WaitGroup
	var said [2]string
	for i := range said {
		all.Go(func() {
			a, err := w.client.Try(w.t.Context(), http.MethodPost, o.path, o.body, "Idempotency-Key", o.name)
			switch {
			case err != nil:
				w.wrong("%s: %v", o.name, err)
			case a.Status != http.StatusConflict && a.Status != http.StatusServiceUnavailable:
				said[i] = a.Body
			}
		})
	}
	all.Wait()
	if said[0] != "" && said[1] != "" && said[0] != said[1] {
		w.wrong("%s was sent twice at once, and is said to be %s and %s", o.name, said[0], said[1])
	}
}

// stories are the endings of numbers that choose how a provider treats an order. The usual ending
// comes most often. PendingForEver is not among them, because a day must come to an end.
var stories = []string{"10", "10", "10", "10", "10", "10", "10", "10", "01", "02", "03", "04", "05", "06", "07"}

// choose returns an element that the seed chooses.
func choose[T any](w *world, list ...T) T { return list[w.chance.IntN(len(list))] }

// newOrder returns an order of a kind. The story is the ending of its number.
func (w *world) newOrder(kind, story string) *order {
	w.t.Helper()
	o := &order{kind: kind, name: fmt.Sprintf("%s-%d", kind, len(w.orders)+1), at: w.now()}
	phone := fmt.Sprintf("080%06d%s", w.chance.IntN(1_000_000), story)
	switch kind {
	case data:
		o.to = phone
		o.path, o.amount = apptest.PurchaseData, w.bundle.Price
		o.body = map[string]any{
			"idempotencyKey": o.name, "serviceCategoryId": w.bundle.Category, "productId": w.bundle.Product, "phoneNumber": phone,
			"settlementId": w.client.SettlementID,
		}
	case airtime:
		o.to, o.amount = phone, money.Kobo(5000+w.chance.IntN(300_000))
		bill := w.client.Airtime(w.airtime, o.name, phone, o.amount)
		o.path, o.body = bill.Path, bill.Body
	case card:
		ending := map[string]int{"10": 10}[story]
		if _, err := fmt.Sscanf(story, "%d", &ending); err != nil {
			w.t.Fatal(err)
		}
		o.path, o.amount = "/api/v1/card/fund-card", money.Kobo(100*(1+w.chance.IntN(30))+ending)*money.Naira
		o.body = map[string]any{"cardId": w.card, "amount": o.amount}
	case payout:
		return w.newPayout(o, story)
	}
	return o
}

// newPayout makes an order a payout, after a name enquiry.
func (w *world) newPayout(o *order, story string) *order {
	w.t.Helper()
	naira := 100 + w.chance.IntN(8000)
	o.to = fmt.Sprintf("01%06d%s", w.chance.IntN(1_000_000), story)
	o.path, o.reference = "/api/v1/settlement/send-payout", w.enquire(o.to, o.name+"-name")
	o.amount, o.body = money.Kobo(naira)*money.Naira, map[string]any{"verify_id": o.reference, "amount": naira}
	return o
}

// enquire asks the bank for the name of an account, and returns the id of the validation.
func (w *world) enquire(number, key string) (verifyID string) {
	w.t.Helper()
	var v struct{ Data struct{ ID string } }
	w.send("/api/v1/settlement/validate-account", map[string]any{
		"bank_code": "000014", "account_number": number, "pin": w.client.PIN, "fromSettlementId": w.client.SettlementID,
	}, key).Want(w.t, http.StatusOK).Into(w.t, &v)
	return v.Data.ID
}

// paths are the paths that show an order, by kind. The name or the reference follows.
var paths = map[string]string{
	data: "/api/v1/vtu/transaction/", airtime: "/api/v1/vtu/transaction/",
	payout: "/api/v1/settlement/payout-status/", card: "/api/v1/card/transaction/",
}

// shown is an order as the API shows it.
type shown struct {
	TransactionID, Status string
	Amount                json.RawMessage
	Fee                   json.RawMessage
	Refunded              bool
}

// look reads what the API shows about an order. It returns false if nothing was begun.
func (w *world) look(o *order) (s shown, found bool) {
	w.t.Helper()
	key := o.reference
	if o.kind == data || o.kind == airtime {
		key = o.name
	}
	if key == "" {
		return s, false
	}
	a := w.client.Do(http.MethodGet, paths[o.kind]+key, nil)
	if a.Status == http.StatusBadRequest {
		return s, false
	}
	var said struct{ Data shown }
	a.Want(w.t, http.StatusOK).Into(w.t, &said)
	return said.Data, true
}
