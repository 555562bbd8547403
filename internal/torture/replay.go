package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// ErrReplay is a history that cannot be replayed.
var ErrReplay = errors.New("the history cannot be replayed")

// Replay sets the options with which a history is replayed. The database and the folder are the caller's.
func (o *Options) Replay(h *History) error {
	engine := o.header().Engine
	switch {
	case h.Run.Engine != engine:
		return fmt.Errorf("%w: it is of %s, and not of %s", ErrReplay, h.Run.Engine, engine)
	case len(h.Facts.Companies) == 0:
		return fmt.Errorf("%w: it has no companies", ErrReplay)
	}
	o.Seed, o.Duration, o.Clients, o.Programs = h.Run.Seed, h.Run.Duration, h.Run.Clients, h.Run.Programs
	o.replayed = h
	return nil
}

// account is an account of the second life, and when it was opened.
type account struct{ id, opened int64 }

// replay is the second life of a history. Accounts and payouts have other ids than in the first.
type replay struct {
	of    *History
	first int64 // when the load began in the first life

	mu       sync.Mutex
	accounts map[place]account
}

// replay makes the calls of each client and the breaks of the history again. A call is never earlier after the begin of
// the load than it was. It waits for the call before it.
func (r *run) replay(ctx context.Context) error {
	p := &replay{of: r.replayed, first: -1, accounts: map[place]account{}}
	calls := map[int][]Call{}
	for _, c := range p.of.Calls {
		if c.Client >= 0 && c.Kind != oldKey && c.Kind != deciding && c.Begin <= p.end() {
			calls[c.Client] = append(calls[c.Client], c)
			if p.first < 0 || c.Begin < p.first {
				p.first = c.Begin
			}
		}
	}
	for i, b := range p.of.Facts.Companies {
		p.accounts[place{b.Reference, b.Main}] = account{id: r.companies[i%len(r.companies)].main}
	}
	begin := r.now()
	var all sync.WaitGroup
	errs := make([]error, r.Clients+1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for n := range r.Clients {
		c := &client{world: r.world, number: n, seed: r.Seed, own: r.companies[n%len(r.companies)]}
		r.clients = append(r.clients, c)
		own := calls[n]
		slices.SortStableFunc(own, func(x, y Call) int { return cmp.Compare(x.Begin, y.Begin) })
		all.Go(func() {
			if errs[n] = c.replay(ctx, p, begin, own); errs[n] != nil {
				stop()
			}
		})
	}
	b := r.breaker()
	all.Go(func() {
		if errs[r.Clients] = b.replay(ctx, p, begin); errs[r.Clients] != nil {
			stop()
		}
	})
	operating, rest := context.WithCancel(ctx)
	defer rest()
	var operators sync.WaitGroup
	operators.Go(func() { r.operate(operating) })
	all.Wait()
	rest()
	operators.Wait()
	return errors.Join(errs...)
}

// end returns when the load had ended in the first life. Later calls settled the run.
func (p *replay) end() int64 {
	last := int64(0)
	for _, b := range p.of.Breaks {
		last = max(last, b.At.Microseconds())
	}
	for _, c := range p.of.Calls {
		if c.Kind == balance || c.Kind == adjustment || c.Kind == credit { // settling makes no such calls
			last = max(last, c.Begin)
		}
	}
	return last
}

// await waits for the instant of the first life, counted from the begin of the load.
func (p *replay) await(ctx context.Context, w *world, begin, at int64) bool {
	left := time.Duration(at-p.first-(w.now()-begin)) * time.Microsecond
	return wait(ctx, max(left, 0))
}

// account returns the account that stands for one of the first life. It opens the account at its first use.
func (p *replay) account(ctx context.Context, w *world, c *company, was Call) (int64, error) {
	if was.Account == 0 {
		return 0, nil // the call is about no account
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := place{was.Company, was.Account}
	if is := p.accounts[key]; is.id == 0 || w.isGone(is.opened) {
		at := w.now()
		id, err := w.account(ctx, c)
		if err != nil {
			return 0, err
		}
		p.accounts[key] = account{id, at}
	}
	return p.accounts[key].id, nil
}

// replay makes the calls of one client again.
func (c *client) replay(ctx context.Context, p *replay, begin int64, calls []Call) error {
	sent := map[string]order{} // by the key of the first life
	var twins sync.WaitGroup
	defer twins.Wait()
	for i, was := range calls {
		if !p.await(ctx, c.world, begin, was.Begin) {
			return nil
		}
		c.copying.RLock()
		account, err := p.account(ctx, c.world, c.own, was)
		if err == nil && was.Kind == adjustment {
			err = c.correctAgain(ctx, was, account)
		}
		c.copying.RUnlock()
		if err == nil {
			post := c.post
			if i+1 < len(calls) && was.isTwin(calls[i+1]) {
				post = func(ctx context.Context, o order) (none Call) {
					twins.Go(func() { c.post(ctx, o) })
					return none
				}
			}
			err = c.makeAgain(ctx, was, account, sent, post)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("client %d, call %d: %w", c.number, i, err)
		}
	}
	return nil
}

// isTwin reports whether a client sent the next order while this one was not answered.
func (c Call) isTwin(next Call) bool {
	return isOrder(c) && next.Kind == c.Kind && next.Key == c.Key && next.Begin < c.End
}

// makeAgain makes a call of the first life again, an order by post.
func (c *client) makeAgain(ctx context.Context, was Call, account int64, sent map[string]order, post func(context.Context, order) Call) error {
	switch was.Kind {
	case purchase, payout, funding:
		o, there := sent[was.Key]
		if !there {
			var err error
			if o, err = c.orderAgain(ctx, was, account); err != nil {
				return err
			}
			sent[was.Key] = o
			c.orders = append(c.orders, o)
		}
		post(ctx, o)
	case look:
		if o, there := sent[was.Key]; there {
			c.lookAt(ctx, o)
		}
	case reversal:
		if o, there := sent[was.Key]; there {
			c.takeBack(ctx, o)
		}
	case balance:
		return c.lookInto(ctx, account)
	case credit:
		return c.payAgain(ctx, was, account)
	case newKey, newSecret:
		return c.replace(ctx, was.Kind, was.Key)
	}
	return nil
}

// correctAgain makes an adjustment of the first life again.
func (c *client) correctAgain(ctx context.Context, was Call, account int64) error {
	direction := "credit"
	if was.Amount < 0 {
		direction = "debit"
	}
	return c.adjust(ctx, c.number, c.own, account, max(was.Amount, -was.Amount), direction, "")
}

// orderAgain returns an order of the first life. A payout gets a new id from the bank's answer about the name.
func (c *client) orderAgain(ctx context.Context, was Call, account int64) (order, error) {
	switch was.Kind {
	case purchase:
		return c.buying(was.Key, account, was.Amount, was.Story, was.To), nil
	case funding:
		return c.loading(was.Key, was.Amount), nil
	}
	var named struct{ ID string }
	bank := cmp.Or(was.Bank, banks[0])
	err := c.own.data(ctx, http.MethodPost, "/api/v1/settlement/validate-account", c.naming(account, bank, was.To), &named)
	return c.paying(named.ID, account, was.Amount, was.Story, bank, was.To), err
}

// payAgain makes the bank receive the same amount as in the first life.
func (c *client) payAgain(ctx context.Context, was Call, account int64) error {
	to := was.Paying
	number := map[string]string{toCustomer: c.own.customer, toCompany: c.own.number}[to.To]
	if number == "" {
		if number = c.virtual[to.To]; number == "" {
			call := Call{Kind: opening, Company: c.own.reference, Account: account, Key: to.To, Amount: to.Asked, Client: c.number, Begin: c.now()}
			var made struct{ AccountNumber string }
			err := c.own.data(ctx, http.MethodPost, virtualAccounts, virtual(to.To, account, to.Asked), &made, "Idempotency-Key", to.To)
			if err != nil {
				return err
			}
			call.End, call.Status, call.State = c.now(), http.StatusOK, success
			c.call(call)
			number = c.remember(to.To, made.AccountNumber)
		}
	}
	c.pay(ctx, to, number, account, was.Amount)
	return nil
}

// replay does to Kobo what was done to it in the first life.
func (b *breaker) replay(ctx context.Context, p *replay, begin int64) error {
	for _, was := range p.of.Breaks {
		if !p.await(ctx, b.world, begin, was.At.Microseconds()) {
			return nil
		}
		n, err := strconv.Atoi(strings.TrimPrefix(was.Target, "program "))
		if err != nil || n < 1 || n > len(b.programs) {
			n = 1 // the break is of no program
		}
		if err := b.act(ctx, plan{kind: was.Kind, length: was.For, target: n - 1}); err != nil {
			return err
		}
	}
	return nil
}

// Paying says how a credit of the bank comes in.
type Paying struct {
	To        string     `json:"to"`              // the company, the customer, or the key of a virtual account
	Asked     money.Kobo `json:"asked,omitempty"` // the amount of the virtual account
	Duplicate int        `json:"duplicate,omitempty"`
	Silent    bool       `json:"silent,omitempty"`
	Since     int64      `json:"since,omitempty"` // when the virtual account was asked for
}

// These are the words for credits that go into no virtual account.
const (
	toCompany  = "company"
	toCustomer = "customer"
)
