package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// credit pays into the company's bank account or the customer's. The bank tells once, several times
// or not at all.
func (c *client) credit(ctx context.Context, r *rand.Rand, _ string, _ int64) error {
	number, to := c.own.customer, Paying{To: toCustomer}
	if c.own.number != "" && r.IntN(2) == 0 {
		number, to.To = c.own.number, toCompany
	}
	c.pay(ctx, to.manner(r), number, c.own.main, c.amount()+money.Kobo(r.IntN(int(money.Naira))))
	return nil
}

// amount returns whole naira that no other credit has, also not with a naira or some kobo more. So a credit whose answer is lost is found
// by its amount.
func (w *world) amount() money.Kobo {
	return money.Kobo(w.paid.Add(1)) * 2 * money.Naira
}

// manner chooses how often the bank tells of a credit.
func (p Paying) manner(r *rand.Rand) Paying {
	p.Duplicate, p.Silent = r.IntN(3), r.IntN(8) == 0
	return p
}

// pay makes the bank receive money for an account, and records the call.
func (c *client) pay(ctx context.Context, to Paying, number string, account int64, amount money.Kobo) {
	body := map[string]any{"accountNumber": number, "amount": amount, "duplicate": to.Duplicate, "silent": to.Silent}
	call := Call{Kind: credit, Company: c.own.reference, Account: account, Amount: amount, Paying: to, Client: c.number, Begin: c.now()}
	a, err := c.fleet.send(context.WithoutCancel(ctx), http.MethodPost, "/sandbox/credit", body)
	call.End = c.now()
	if err == nil {
		call.Status = a.status
		var said struct{ Data struct{ SessionID string } }
		if a.status == http.StatusOK && json.Unmarshal(a.body, &said) == nil {
			call.State, call.Key = success, said.Data.SessionID
		} else {
			call.Answer = string(a.body)
		}
	}
	c.call(call)
}

// collect opens a virtual account and pays into it: right, wrong or twice.
func (c *client) collect(ctx context.Context, r *rand.Rand, key string, account int64) error {
	call := Call{Kind: opening, Company: c.own.reference, Account: account, Key: key, Amount: c.amount(), Client: c.number, Begin: c.now()}
	a, err := c.own.call(ctx, http.MethodPost, virtualAccounts, virtual(key, account, call.Amount), "Idempotency-Key", key)
	call.told(a, err)
	var made struct {
		Data struct{ AccountNumber string }
	}
	if call.State == success {
		if err = a.into(&made); err != nil {
			return err
		}
	}
	call.End = c.now()
	c.call(call)
	if call.State != success {
		return nil // nobody knows where to pay
	}
	amount := call.Amount
	number, to := c.remember(key, made.Data.AccountNumber), Paying{To: key, Asked: amount, Since: call.Begin}
	switch r.IntN(4) {
	case 0:
		c.pay(ctx, to.manner(r), number, account, amount+money.Naira)
	case 1:
		c.pay(ctx, to.manner(r), number, account, amount)
		c.pay(ctx, to.manner(r), number, account, amount)
	default:
		c.pay(ctx, to.manner(r), number, account, amount)
	}
	return nil
}

const virtualAccounts = "/api/v1/virtual-account/generate"

// virtual is the request for a virtual account.
func virtual(key string, account int64, asked money.Kobo) map[string]any {
	return map[string]any{"amount": asked, "externalReference": key, "settlementId": account, "validFor": 1800}
}

// remember keeps the number of a virtual account.
func (c *client) remember(key, number string) string {
	if c.virtual == nil {
		c.virtual = map[string]string{}
	}
	c.virtual[key] = number
	return number
}

// reverse makes the bank return a payout that arrived.
func (c *client) reverse(ctx context.Context, r *rand.Rand, _ string, _ int64) error {
	for range min(len(c.orders), 20) {
		o := c.orders[r.IntN(len(c.orders))]
		if o.call.Kind != payout {
			continue
		}
		c.takeBack(ctx, o)
		return nil
	}
	return nil
}

func (c *client) takeBack(ctx context.Context, o order) {
	call := Call{Kind: reversal, Company: c.own.reference, Account: o.call.Account, Key: o.call.Key, Client: c.number, Begin: c.now()}
	a, err := c.fleet.send(ctx, http.MethodPost, "/sandbox/reverse", map[string]string{"reference": o.call.Key})
	call.End = c.now()
	if err == nil {
		call.Status = a.status
		if a.status == http.StatusOK {
			call.State = reversed
		}
	}
	c.call(call)
}

// correct makes a small adjustment of the account by two operators.
func (c *client) correct(ctx context.Context, r *rand.Rand, _ string, account int64) error {
	direction := "credit"
	if r.IntN(2) == 0 {
		direction = "debit"
	}
	c.copying.RLock()
	defer c.copying.RUnlock()
	if c.life != c.lives() {
		return nil // a restore may have lost the account
	}
	return c.adjust(ctx, c.number, c.own, account, money.Kobo(1+r.IntN(1000)), direction, "")
}

// adjust lets one operator propose an adjustment and the other approve it, until both are done. A
// repeated proposal is a second one, so only an answered one is approved. A repeated approval is
// refused, so the state is read then. A debit that the balance does not allow is given up. The adjustment may book a lost payment.
func (w *world) adjust(ctx context.Context, client int, c *company, account int64, amount money.Kobo, direction, lost string) error {
	ctx = context.WithoutCancel(ctx)
	call := Call{Kind: adjustment, Company: c.reference, Account: account, Amount: amount, For: lost, Client: client, Begin: w.now()}
	if direction == "debit" {
		call.Amount = -amount
	}
	var made struct{ ID, Status string }
	err := w.by.data(ctx, 0, http.MethodPost, "companies/"+c.reference+"/adjustments", map[string]any{
		"settlementId": account, "amount": amount, "direction": direction, "reason": "torture",
	}, &made)
	if err != nil {
		return err
	}
	call.Key = made.ID
	const tries = 60
	last := ""
	for range tries {
		a, err := w.by.call(ctx, 1, http.MethodPost, "adjustments/"+made.ID+"/approve", map[string]any{})
		if err == nil && a.status != http.StatusOK {
			err = w.by.data(ctx, 1, http.MethodGet, "adjustments/"+made.ID, nil, &made)
		}
		call.End, call.Status, last = w.now(), a.status, string(a.body)
		switch {
		case err == nil && (a.status == http.StatusOK || made.Status == "APPROVED"):
			call.Status, call.State = http.StatusOK, success
			w.call(call)
			return nil
		case err == nil && lost == "" && a.status == http.StatusBadRequest && strings.Contains(last, short):
			call.State, call.Answer = refused, last
			w.call(call)
			return nil
		}
		if !wait(ctx, retry) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the adjustment %s was not approved; the last answer was %d %s", made.ID, call.Status, last)
}
