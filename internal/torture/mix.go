package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// most is the number of steps on an account before its clients open a new one. So the search for an
// order of the account's calls stays short.
const most = 60

// counter is an account that a few clients share, and the number of their steps on it.
type counter struct {
	mu      sync.Mutex
	company *company
	account int64
	opened  int64 // when the account was opened
	steps   int
}

// turn returns the account for the next step. It opens a new one when the old one has had enough.
func (w *world) turn(ctx context.Context, c *counter) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.account == 0 || c.steps >= most || w.isGone(c.opened) {
		w.copying.RLock()
		defer w.copying.RUnlock()
		at := w.now()
		id, err := w.account(context.WithoutCancel(ctx), c.company)
		if err != nil {
			return 0, err
		}
		c.account, c.opened, c.steps = id, at, 0
	}
	c.steps++
	return c.account, nil
}

// client is one of the clients of a run: a thread that makes one step after the other.
type client struct {
	*world
	number  int
	seed    uint64
	counter *counter
	own     *company
	orders  []order           // what the client has sent so far
	virtual map[string]string // the numbers of its virtual accounts, by their keys
	life    int               // of the database, when the step began
}

// order is a payment that a client sends, perhaps several times.
type order struct {
	call Call
	path string
	body map[string]any
	made int64 // microseconds since the begin of the run
}

// stories are the last two digits of the numbers that orders name. They choose what the simulated
// provider does (docs/sandbox.md).
var stories = []string{"10", "10", "10", "10", "10", "10", "01", "02", "03", "04", "05", "06", "07"}

// noOutcome is the story of a payment that stays without an outcome until two operators decide it.
const noOutcome = "08"

// tale returns the story of a purchase or a payout.
func tale(r *rand.Rand) string {
	if r.IntN(40) == 0 {
		return noOutcome
	}
	return pick(r, stories)
}

// step is a kind of step, and how often it is chosen among all.
type step struct {
	weight int
	do     func(c *client, ctx context.Context, r *rand.Rand, key string, account int64) error
}

var steps = []step{
	{36, (*client).purchase},
	{16, (*client).payout},
	{6, (*client).fund},
	{8, (*client).credit},
	{5, (*client).collect},
	{3, (*client).reverse},
	{2, (*client).correct},
	{8, (*client).again},
	{8, (*client).lookUp},
	{12, (*client).look},
	{1, (*client).rotate},
}

// run makes steps until the context ends. The choices of a step follow from the seed, the client and
// the number of the step alone.
func (c *client) run(ctx context.Context) error {
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	for n := 0; ctx.Err() == nil; n++ {
		r := rand.New(rand.NewPCG(c.seed, uint64(c.number)<<32|uint64(n)))
		c.life = c.lives()
		account, err := c.turn(ctx, c.counter)
		if err == nil {
			pick, i := r.IntN(total), 0
			for pick >= steps[i].weight {
				pick -= steps[i].weight
				i++
			}
			err = steps[i].do(c, ctx, r, c.keyOf(n), account)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("client %d, step %d: %w", c.number, n, err)
		}
	}
	return nil
}

// keyOf returns the key of a step. Clients of two companies use the same keys, which belong to each company alone.
func (c *client) keyOf(n int) string { return fmt.Sprintf("key-%d-%d", c.number/len(c.companies), n) }

// purchase buys a data bundle or airtime.
func (c *client) purchase(ctx context.Context, r *rand.Rand, key string, account int64) error {
	amount := c.bundle.price
	if r.IntN(3) == 0 {
		amount = money.Kobo(50+r.IntN(450))*money.Naira + 25 // no bundle has such a price
	}
	story := tale(r)
	return c.order(ctx, r, c.buying(key, account, amount, story, phone(r, story)))
}

// phone returns a number whose first digits are chosen, and whose last two tell the story. The provider shows these.
func phone(r *rand.Rand, story string) string {
	return pick(r, []string{"070", "080", "081", "090", "091"}) + fmt.Sprintf("%06d", r.IntN(1_000_000)) + story
}

// buying is the order of the data bundle if the amount is its price, and of airtime otherwise.
func (c *client) buying(key string, account int64, amount money.Kobo, story, to string) order {
	o := order{
		call: Call{Kind: purchase, Company: c.own.reference, Account: account, Key: key, Amount: amount, Story: story, To: to, Goods: "airtime"},
		path: "/api/v1/vtu/purchase-airtime",
		made: c.now(),
		body: map[string]any{"idempotencyKey": key, "phoneNumber": to, "settlementId": account, "serviceCategoryId": c.airtime, "amount": amount},
	}
	if amount == c.bundle.price {
		o.path, o.call.Goods = "/api/v1/vtu/purchase-data", "data"
		o.body["serviceCategoryId"], o.body["productId"] = c.bundle.category, c.bundle.id
		delete(o.body, "amount")
	}
	return o
}

// payout asks for the name of an account and pays to it.
func (c *client) payout(ctx context.Context, r *rand.Rand, key string, account int64) error {
	amount, story := money.Kobo(100+r.IntN(900))*money.Naira, tale(r)
	number := fmt.Sprintf("%08d%s", r.IntN(100_000_000), story)
	bank := pick(r, banks)
	id, err := c.nameOf(ctx, account, bank, number)
	if err != nil || id == "" {
		return err // without a name no money moves, and nothing is to be repeated
	}
	return c.order(ctx, r, c.paying(id, account, amount, story, bank, number))
}

// banks are the codes of the banks that payouts go to.
var banks = []string{"000013", "000014", "000016"}

// nameOf asks for the name of the account to which a payout goes, and records the call. It returns "" without an answer.
func (c *client) nameOf(ctx context.Context, account int64, bank, number string) (id string, err error) {
	var named struct{ Data struct{ ID string } }
	call := Call{Kind: enquiry, Company: c.own.reference, Account: account, Client: c.number, Begin: c.now()}
	a, lost := c.own.call(ctx, http.MethodPost, "/api/v1/settlement/validate-account", c.naming(account, bank, number))
	call.told(a, lost)
	if call.State == success {
		err = a.into(&named)
	}
	call.End = c.now()
	c.call(call)
	return named.Data.ID, err
}

// told reads the answer to a request that moves no money.
func (c *Call) told(a answer, err error) {
	if err != nil {
		return
	}
	c.Status = a.status
	switch {
	case a.status == http.StatusOK:
		c.State = success
	case a.status == http.StatusBadRequest:
		c.State, c.Answer = refused, string(a.body)
	case a.status != http.StatusServiceUnavailable && a.status != http.StatusConflict && !isLocked(a):
		c.Answer = string(a.body)
	}
}

// naming is the request for the name of the account to which a payout goes.
func (c *client) naming(account int64, bank, number string) map[string]any {
	return map[string]any{"bank_code": bank, "account_number": number, "pin": c.own.pin, "fromSettlementId": account}
}

func (c *client) paying(named string, account int64, amount money.Kobo, story, bank, to string) order {
	return order{
		call: Call{Kind: payout, Company: c.own.reference, Account: account, Key: named, Amount: amount, Story: story, To: to, Bank: bank},
		path: "/api/v1/settlement/send-payout", body: map[string]any{"verify_id": named, "amount": amount},
	}
}

// fund funds the card. Its debit is always on the first account.
func (c *client) fund(ctx context.Context, r *rand.Rand, key string, _ int64) error {
	amount := money.Kobo(10+r.IntN(40))*100*money.Naira + map[string]money.Kobo{
		"01": 1, "02": 2, "03": 3, "04": 4, "05": 5, "06": 6, "07": 7,
	}[pick(r, stories)]*money.Naira
	return c.order(ctx, r, c.loading(key, amount))
}

func (c *client) loading(key string, amount money.Kobo) order {
	return order{
		call: Call{Kind: funding, Company: c.own.reference, Account: c.own.main, Key: key, Amount: amount},
		path: "/api/v1/card/fund-card", body: map[string]any{"cardId": c.own.card, "amount": amount},
	}
}

// order sends an order. Without an answer it usually sends the order again, a few times. Sometimes
// it sends the order twice at once.
func (c *client) order(ctx context.Context, r *rand.Rand, o order) error {
	c.orders = append(c.orders, o)
	again, twin := r.IntN(10) < 7, r.IntN(12) == 0
	var both sync.WaitGroup
	if twin {
		both.Go(func() { c.post(ctx, o) })
	}
	defer both.Wait()
	const tries, pause = 4, 250 * time.Millisecond
	for range tries {
		if said := c.post(ctx, o); said.State != unknown || !again || !wait(ctx, pause) {
			break
		}
	}
	return nil
}

// post sends an order once and records the answer. It does not send a forgotten one.
func (c *client) post(ctx context.Context, o order) Call {
	if c.isOld(o) {
		c.repeating.RLock()
		defer c.repeating.RUnlock()
		if c.isForgotten(o) {
			return Call{}
		}
	}
	call := o.call
	call.Client, call.Begin = c.number, c.now()
	// A request that has begun is not given up when the run ends.
	a, err := c.own.call(context.WithoutCancel(ctx), http.MethodPost, o.path, o.body, "Idempotency-Key", o.call.Key)
	call.End = c.now()
	if err == nil {
		call.Status = a.status
		call.hear(a)
	}
	c.call(call)
	return call
}

// hear reads what an answer says about a payment.
func (c *Call) hear(a answer) {
	var said struct {
		Message, Error string
		Data           struct {
			TransactionID, Reference, Status string
			Amount                           amount
		}
	}
	if json.Unmarshal(a.body, &said) != nil {
		c.Answer = string(a.body)
		return
	}
	c.Reference, c.Said = said.Data.TransactionID+said.Data.Reference, money.Kobo(said.Data.Amount)
	text := said.Message + said.Error
	switch {
	case a.status == http.StatusOK && c.Kind == funding:
		c.State = success
	case a.status == http.StatusOK:
		c.State = said.Data.Status
	case a.status == http.StatusBadRequest && strings.HasSuffix(text, "Your balance has been refunded."):
		c.State = failed
	case a.status == http.StatusBadRequest && strings.HasPrefix(text, "Card funding is being confirmed."):
		c.State = pending
	case a.status == http.StatusBadRequest:
		c.State, c.Answer = refused, string(a.body)
	case isLocked(a): // the token was revoked or expired again and again; nothing happened yet
	case a.status != http.StatusServiceUnavailable && a.status != http.StatusConflict:
		c.Answer = string(a.body)
	}
}

// isLocked reports whether Kobo did not take the access token.
func isLocked(a answer) bool {
	return a.status == http.StatusUnauthorized || a.status == http.StatusForbidden && strings.Contains(string(a.body), "access token")
}

// again repeats an earlier order of this client under its key.
func (c *client) again(ctx context.Context, r *rand.Rand, _ string, _ int64) error {
	if len(c.orders) > 0 {
		c.post(ctx, c.orders[len(c.orders)-1-r.IntN(min(len(c.orders), 20))])
	}
	return nil
}

// lookUp reads the state of an earlier payment of this client.
func (c *client) lookUp(ctx context.Context, r *rand.Rand, _ string, _ int64) error {
	if len(c.orders) == 0 {
		return nil
	}
	c.lookAt(ctx, c.orders[len(c.orders)-1-r.IntN(min(len(c.orders), 20))])
	return nil
}

// lookAt reads the state of a payment. A card funding is found by its reference, and the others by their keys.
func (c *client) lookAt(ctx context.Context, o order) {
	path, name := map[string]string{
		purchase: "/api/v1/vtu/transaction/", payout: "/api/v1/settlement/payout-status/", funding: "/api/v1/card/transaction/",
	}[o.call.Kind], o.call.Key
	if o.call.Kind == funding {
		name = o.call.reference()
	}
	call := Call{Kind: look, Company: o.call.Company, Account: o.call.Account, Key: o.call.Key, Amount: o.call.Amount, Client: c.number, Begin: c.now()}
	a, err := c.own.call(ctx, http.MethodGet, path+name, nil)
	call.End = c.now()
	if err == nil {
		call.Status = a.status
		var said struct {
			Data struct {
				Status string
				Amount amount
			}
		}
		switch {
		case a.status == http.StatusOK && a.into(&said) == nil:
			call.State, call.Said = said.Data.Status, money.Kobo(said.Data.Amount)
			if o.call.Kind == funding {
				call.Reference = name
			}
		case a.status == http.StatusBadRequest, a.status == http.StatusNotFound:
			call.State = absent
		case a.status != http.StatusServiceUnavailable && !isLocked(a):
			call.Answer = string(a.body)
		}
	}
	c.call(call)
}

// look reads the balance of the account, or that of the company's first one.
func (c *client) look(ctx context.Context, r *rand.Rand, _ string, account int64) error {
	if r.IntN(3) == 0 {
		account = c.own.main
	}
	return c.lookInto(ctx, account)
}

func (c *client) lookInto(ctx context.Context, account int64) error {
	call := Call{Kind: balance, Company: c.own.reference, Account: account, Client: c.number, Begin: c.now()}
	a, err := c.own.call(ctx, http.MethodGet, "/api/v1/settlement/accounts", nil)
	call.End = c.now()
	var said struct {
		Data []struct {
			ID      int64
			Balance money.Kobo
		}
	}
	if err != nil || a.status == http.StatusServiceUnavailable || isLocked(a) {
		return nil
	}
	call.Status, call.State = a.status, absent
	if a.status != http.StatusOK || a.into(&said) != nil {
		call.State, call.Answer = unknown, string(a.body)
	}
	for _, one := range said.Data {
		if one.ID == account {
			call.Balance, call.State = one.Balance, unknown
		}
	}
	c.call(call)
	return nil
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
