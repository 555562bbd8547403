package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// mix is a kind of load.
type mix struct {
	name, about string
	companies   int  // number of companies that the mix needs
	poor        bool // only the first company has money
	step        maker
	// beside, if set, is the step of a flooder, while a polite company repeats the mix's step.
	beside maker
	fill   bool // the flooder makes purchases first, so that it has rows to read
	soak   *soakRole
}

// maker returns the step of one client.
type maker func(p *place, client int) (step, error)

const (
	many   = 1000
	polite = 2 // the clients of the polite company
)

// mixes are the loads that the bench knows, in their usual order.
var mixes = []mix{
	{name: "hot", about: "purchases from one settlement account", companies: 1, step: (*place).buy},
	{name: "spread", about: "purchases from the accounts of 1,000 companies", companies: many, step: (*place).buy},
	{name: "payouts", about: "payouts from one account: a validation, then the payout", companies: 1, step: (*place).pay},
	{name: "replays", about: "the same purchase again, with the same Idempotency-Key", companies: 1, step: (*place).replay},
	{name: "refusals", about: "purchases from an account without money", companies: 2, poor: true, step: (*place).refuse},
	{name: "accounts", about: "GET the settlement accounts", companies: 1, step: get("/api/v1/settlement/accounts")},
	{name: "purchase", about: "GET one purchase", companies: 1, step: (*place).one},
	{name: "flood", about: "a polite company with two clients, alone and beside a flood of purchases", companies: 2, step: (*place).buy, beside: (*place).buy},
	{name: "lists", about: "the same beside a company that lists its purchases", companies: 2, step: (*place).buy, beside: get("/api/v1/vtu/transactions"), fill: true},
	{name: "checks", about: "the same beside a company that asks for its integrity", companies: 2, step: (*place).buy, beside: get("/api/v1/integrity"), fill: true},
}

// remote reports whether the mix can run on an instance that the bench has not started.
func (m mix) remote() bool { return m.companies == 1 }

// place is what the clients of a mix need: companies with tokens, and a product on sale.
type place struct {
	target
	companies         []Account
	category, product string
	clients           int
}

// fresh returns a number that no earlier request had, also of an earlier run. Otherwise a running
// instance would only repeat its responses to the earlier run.
func fresh() int64 { return begun + number.Add(1) }

var (
	begun  = time.Now().UnixMicro()
	number atomic.Int64
)

// unique is the place of a number in a request. Each request gets the next number.
const unique = "n000000000000000000"

// next writes the next number into the request at the positions of unique.
func next(text []byte, at []int) {
	var digits [len(unique)]byte
	n := strconv.AppendInt(digits[:0], fresh(), 10)
	for _, i := range at {
		copy(text[i+len(unique)-len(n):], n)
	}
}

func positions(text []byte) (at []int) {
	for i := 0; ; i++ {
		n := bytes.Index(text[i:], []byte(unique))
		if n < 0 {
			return at
		}
		i += n
		at = append(at, i)
	}
}

// unexpected is a response that the bench did not expect.
type unexpected struct {
	status int
	body   string
}

func (u unexpected) Error() string { return fmt.Sprintf("HTTP %d %s", u.status, u.body) }

// want sends a request and returns the body of its response. The response must have the status and
// contain the text.
func (c *conn) want(text []byte, status int, has []byte) ([]byte, error) {
	got, body, err := c.do(text)
	if err != nil {
		return nil, err
	}
	if got != status || !bytes.Contains(body, has) {
		return nil, unexpected{got, string(body[:min(len(body), 300)])}
	}
	return body, nil
}

// repeat returns a step that sends the requests in turn. Each has a new number.
func repeat(status int, has string, texts ...[]byte) step {
	at := make([][]int, len(texts))
	for i, text := range texts {
		at[i] = positions(text)
	}
	i, text := -1, []byte(has)
	return func(c *conn) error {
		i = (i + 1) % len(texts)
		next(texts[i], at[i])
		_, err := c.want(texts[i], status, text)
		return err
	}
}

// A response to a new purchase contains bought. A response to a repeated purchase contains only
// success.
const (
	bought  = "Data purchase successful"
	success = `"status":"SUCCESS"`
)

// order returns the request of a purchase. The headers end with a line break each.
func (p *place) order(a Account, key, headers string) []byte {
	body := fmt.Sprintf(`{"idempotencyKey":"%s","serviceCategoryId":"%s","productId":"%s","phoneNumber":"08030000010","settlementId":%d}`,
		key, p.category, p.product, a.SettlementID)
	return p.request(http.MethodPost, "/api/v1/vtu/purchase-data", a.token, body, headers)
}

// buy buys for one company after the other. Each client begins at a different company.
func (p *place) buy(client int) (step, error) {
	var texts [][]byte
	for i := client % len(p.companies); i < len(p.companies); i += p.clients {
		texts = append(texts, p.order(p.companies[i], unique, ""))
	}
	return repeat(http.StatusOK, bought, texts...), nil
}

// replay repeats one purchase that was made before.
func (p *place) replay(int) (step, error) {
	key := fmt.Sprint("again-", fresh())
	text := p.order(p.companies[0], key, "Idempotency-Key: "+key+"\r\n")
	if _, err := p.ask(text, success); err != nil {
		return nil, err
	}
	return repeat(http.StatusOK, success, text), nil
}

// refuse buys for a company without money.
func (p *place) refuse(int) (step, error) {
	return repeat(http.StatusBadRequest, "Insufficient balance", p.order(p.companies[1], unique, "")), nil
}

// pay validates an account at a bank, and sends a payout to it.
func (p *place) pay(int) (step, error) {
	a := p.companies[0]
	validate := p.request(http.MethodPost, "/api/v1/settlement/validate-account", a.token,
		fmt.Sprintf(`{"bank_code":"000014","account_number":"0123456710","pin":"%s","fromSettlementId":%d}`, a.PIN, a.SettlementID), "")
	const id = "00000000-0000-0000-0000-000000000000"
	send := p.request(http.MethodPost, "/api/v1/settlement/send-payout", a.token, `{"verify_id":"`+id+`","amount":100}`, "")
	at := bytes.Index(send, []byte(id))
	return func(c *conn) error {
		body, err := c.want(validate, http.StatusOK, []byte(`"id":"`))
		if err != nil {
			return err
		}
		_, rest, _ := bytes.Cut(body, []byte(`"id":"`))
		if len(rest) < len(id) {
			return unexpected{http.StatusOK, string(body)}
		}
		copy(send[at:], rest[:len(id)])
		_, err = c.want(send, http.StatusOK, []byte(success))
		return err
	}, nil
}

// get returns the maker of steps that read a path.
func get(path string) maker {
	return func(p *place, _ int) (step, error) {
		return repeat(http.StatusOK, "", p.request(http.MethodGet, path, p.companies[0].token, "", "")), nil
	}
}

// one reads one purchase, which was made before.
func (p *place) one(client int) (step, error) {
	id, err := p.sample(fmt.Sprint("one-", fresh()))
	if err != nil {
		return nil, err
	}
	return get("/api/v1/vtu/transaction/"+id)(p, client)
}

// sample makes one purchase of the first company, and returns its ID.
func (p *place) sample(key string) (string, error) {
	body, err := p.ask(p.order(p.companies[0], key, ""), success)
	if err != nil {
		return "", err
	}
	var is struct {
		Data struct{ TransactionID string }
	}
	err = json.Unmarshal(body, &is)
	return is.Data.TransactionID, err
}

// ask sends one request on a new connection.
func (p *place) ask(text []byte, has string) ([]byte, error) {
	c := &conn{ctx: context.Background(), target: p.target}
	defer c.close()
	return c.want(text, http.StatusOK, []byte(has))
}

// tokens gets an access token for each company.
func (t target) tokens(ctx context.Context, all []Account) error {
	errs := make([]error, 16)
	var clients sync.WaitGroup
	for i := range errs {
		clients.Go(func() {
			c := &conn{ctx: ctx, target: t}
			defer c.close()
			for n := i; n < len(all) && errs[i] == nil; n += len(errs) {
				text := t.request(http.MethodPost, "/api/v1/auth/generate-token/"+all[n].Reference, "", "", "X-Api-Key: "+all[n].APIKey+"\r\nContent-Length: 0\r\n")
				var body []byte
				if body, errs[i] = c.want(text, http.StatusOK, nil); errs[i] == nil {
					var is struct{ AccessToken string }
					errs[i] = json.Unmarshal(body, &is)
					all[n].token = is.AccessToken
				}
			}
		})
	}
	clients.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("no access token: %w", err)
		}
	}
	return nil
}

// find finds a data bundle on sale.
func (p *place) find() error {
	read := func(path, field string) (string, error) {
		body, err := p.ask(p.request(http.MethodGet, path, p.companies[0].token, "", ""), "")
		if err != nil {
			return "", err
		}
		var list struct{ Data []map[string]any }
		if err := json.Unmarshal(body, &list); err != nil {
			return "", err
		}
		for _, one := range list.Data {
			if name, ok := one["serviceName"]; ok && name != "Data" {
				continue
			}
			return fmt.Sprint(one[field]), nil
		}
		return "", fmt.Errorf("%s lists nothing", path)
	}
	service, err := read("/api/v1/vtu/services", "serviceId")
	if err == nil {
		p.category, err = read("/api/v1/vtu/service/"+service+"/categories", "serviceCategoryId")
	}
	if err == nil {
		p.product, err = read("/api/v1/vtu/category/"+p.category+"/products", "categoryProductId")
	}
	return err
}
