package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostKeys is the number of API keys that each company of a run issues. Kobo lets a company issue 20 a day.
const mostKeys = 15

// retired is an API key that the company has revoked or a restore has lost, and the last access token from it.
type retired struct {
	key, token string
	made, at   int64 // when the company got it, and when it was revoked or lost
}

// rotate replaces the company's API key or the secret of its webhook, while other clients of the company work.
func (c *client) rotate(ctx context.Context, r *rand.Rand, key string, _ int64) error {
	if r.IntN(2) == 0 {
		return c.replace(ctx, newKey, key)
	}
	return c.replace(ctx, newSecret, key)
}

func (c *client) replace(ctx context.Context, kind, key string) error {
	ctx = context.WithoutCancel(ctx) // a rotation that has begun must end, because its answer has the only copy of the secret
	c.copying.RLock()
	defer c.copying.RUnlock()
	what := c.rotateSecret
	if kind == newKey {
		what = c.rotateKey
	}
	c.own.rotating.Lock()
	defer c.own.rotating.Unlock()
	return what(ctx, key)
}

// rotateKey issues an API key, makes all clients use it, and revokes the keys before it. The answer of a repeated request
// shows the key for ten minutes only. If the clock jumps meanwhile, the key is lost, and the next rotation revokes it.
func (c *client) rotateKey(ctx context.Context, key string) error {
	own := c.own
	if own.issued >= mostKeys {
		return nil
	}
	own.issued++
	call := Call{Kind: newKey, Company: own.reference, Key: key, Client: c.number, Begin: c.now()}
	var before []string
	err := pages(ctx, own, "company/api-keys?", func(r struct{ ID, Status string }) {
		if r.Status == "ACTIVE" {
			before = append(before, r.ID)
		}
	})
	if err != nil {
		return err
	}
	var made struct{ APIKey string }
	body := map[string]any{"pin": own.pin, "name": key}
	err = own.data(ctx, http.MethodPost, "/api/v1/company/api-keys", body, &made, "Idempotency-Key", key)
	if err != nil || made.APIKey == "" {
		return err
	}
	own.mu.Lock()
	old := retired{own.key, own.token, own.made, c.now()}
	own.key, own.token, own.made = made.APIKey, "", call.Begin
	own.retired = append(own.retired, old)
	own.mu.Unlock()
	for _, id := range before {
		if err := own.revoke(ctx, id); err != nil {
			return err
		}
	}
	c.stale(ctx, old, key)
	call.End, call.Status, call.State = c.now(), http.StatusOK, success
	c.call(call)
	return nil
}

// stale tries at each program the last access token of an API key that was revoked just now, long before it expires. Each program knows of a
// revocation within a second, but a program may be frozen or without its database meanwhile. So the token must be refused before this gives up.
// A program that does not answer is asked at the end again.
func (c *client) stale(ctx context.Context, old retired, key string) {
	if old.token == "" {
		return
	}
	var all sync.WaitGroup
	for _, p := range c.fleet.programs {
		all.Go(func() { c.staleAt(ctx, p, old, key) })
	}
	all.Wait()
}

func (c *client) staleAt(ctx context.Context, p *program, old retired, key string) {
	const tries = 20
	call := Call{Kind: oldKey, Company: c.own.reference, Key: "token-before-" + key + " at " + p.name, Client: c.number}
	for n := 0; n < tries && call.State != refused && wait(ctx, retry); n++ {
		begin := c.now()
		a, err := c.fleet.of(p).send(ctx, http.MethodGet, "/api/v1/settlement/accounts", nil, "Authorization", "Bearer "+old.token)
		if err != nil || a.status >= http.StatusInternalServerError {
			continue
		}
		call.Begin, call.End, call.Status, call.State = begin, c.now(), a.status, unknown
		if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
			call.State = refused
		}
	}
	if call.Begin > 0 {
		c.call(call)
	}
}

// revoke revokes an API key. A repeated request finds the key revoked.
func (c *company) revoke(ctx context.Context, id string) error {
	path := "/api/v1/company/api-keys/" + id
	err := c.fleet.ok(ctx, func() (answer, error) {
		a, err := c.call(ctx, http.MethodDelete, path, map[string]any{"pin": c.pin})
		if err == nil && a.status == http.StatusBadRequest && strings.Contains(string(a.body), "revoked already") {
			a.status = http.StatusOK
		}
		return a, err
	}, nil)
	if err != nil {
		return fmt.Errorf("DELETE %s: %w", path, err)
	}
	return nil
}

// rotateSecret replaces the secret of the company's webhook. Messages have the signatures of both secrets for a day.
func (c *client) rotateSecret(ctx context.Context, key string) error {
	call := Call{Kind: newSecret, Company: c.own.reference, Key: key, Client: c.number, Begin: c.now()}
	var made struct{ Secret string }
	path := "/api/v1/webhooks/" + c.own.webhook + "/rotate-secret"
	for n := 1; made.Secret == ""; n++ { // a repeated answer shows no secret after a jump of the clock
		if err := c.own.data(ctx, http.MethodPost, path, nil, &made, "Idempotency-Key", fmt.Sprint(key, "-", n)); err != nil {
			return err
		}
	}
	c.hook.trust(c.own.reference, made.Secret, call.Begin)
	call.End, call.Status, call.State = c.now(), http.StatusOK, success
	c.call(call)
	return nil
}

// reuse tries each retired API key at each program, and buys with the last access token of each. All programs have followed by now.
func (w *world) reuse(ctx context.Context) {
	for _, c := range w.companies {
		for i, old := range c.retired {
			for _, p := range w.fleet.programs {
				w.reuseAt(ctx, p, c, old, fmt.Sprintf("of-old-%d-at-%s", i, strings.ReplaceAll(p.name, " ", "-")))
			}
		}
	}
}

func (w *world) reuseAt(ctx context.Context, p *program, c *company, old retired, name string) {
	one := w.fleet.of(p)
	call := Call{Kind: oldKey, Company: c.reference, Key: "key-" + name, Begin: w.now()}
	w.refuse(ctx, call, func() (answer, error) {
		return one.send(ctx, http.MethodPost, "/api/v1/auth/generate-token/"+c.reference, nil, "X-Api-Key", old.key)
	})
	if old.token == "" || w.isGone(old.made) { // a token of a lost key works until it expires
		return
	}
	call.Key, call.Begin = "token-"+name, w.now()
	w.refuse(ctx, call, func() (answer, error) {
		return one.send(ctx, http.MethodPost, "/api/v1/vtu/purchase-data", map[string]any{
			"idempotencyKey": call.Key, "serviceCategoryId": w.bundle.category, "productId": w.bundle.id,
			"phoneNumber": "08031234510", "settlementId": c.main,
		}, "Authorization", "Bearer "+old.token)
	})
}

// refuse sends a request that Kobo must refuse, until it is answered, and records the call.
func (w *world) refuse(ctx context.Context, call Call, send func() (answer, error)) {
	const tries = 10
	for range tries {
		a, err := send()
		if err != nil || a.status >= http.StatusInternalServerError {
			wait(ctx, retry)
			continue
		}
		call.End, call.Status = w.now(), a.status
		if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
			call.State = refused
		}
		w.call(call)
		return
	}
	call.End = w.now()
	w.call(call)
}

// credentials compares the answers about retired API keys and tokens. Nothing may have been bought with them.
func credentials(h *History, r *Result) {
	used, keys := map[subject]bool{}, map[string]int{}
	for _, c := range h.Calls {
		switch c.Kind {
		case newKey, newSecret:
			r.Compared++
			if c.Kind == newKey && !h.mayBeLost(c) {
				keys[c.Company]++
			}
		case oldKey:
			r.Compared++
			used[subject{c.Company, c.Key}] = true
			if c.State != refused {
				r.wrong("%s: the %s was answered %d", c.Company, c.Key, c.Status)
			}
		}
	}
	for _, b := range h.Facts.Companies {
		for _, t := range b.Turned {
			if !h.mayTurn(b.Reference, t) {
				r.wrong("%s: %s, with a valid access token that was %s old", b.Reference, t.Says, time.Duration(t.Begun-t.Made)*time.Microsecond)
			}
		}
		told := map[string]int{}
		for _, e := range b.Events {
			told[e.Kind]++
		}
		for _, kind := range []string{"company.api_key_issued", "company.api_key_revoked"} {
			if told[kind] < keys[b.Reference] {
				r.wrong("%s: %d events %s tell of %d replaced API keys", b.Reference, told[kind], kind, keys[b.Reference])
			}
		}
		for _, p := range b.Payments {
			if used[subject{b.Reference, p.Key}] {
				r.wrong("%s: %s was bought with the %s", b.Reference, p.Reference, p.Key)
			}
		}
	}
}

// mayTurn reports whether an access token could be refused: it was old, its API key was replaced meanwhile, the clock jumped, or a restore
// lost the key and closed API access. A jump that has just begun may reach one program later than another. After the load the clock jumps
// often, until everything has ended.
func (h *History) mayTurn(company string, t Turned) bool {
	const valid, lag = int64(55 * time.Minute / time.Microsecond), int64(10 * time.Second / time.Microsecond)
	within := func(begin, end int64) bool { return begin <= t.Begun && t.Made-lag <= end }
	return t.Begun-t.Made > valid || t.Begun > h.Run.Duration.Microseconds() ||
		slices.ContainsFunc(h.Calls, func(c Call) bool { return c.Kind == newKey && c.Company == company && within(c.Begin, c.End) }) ||
		slices.ContainsFunc(h.Breaks, func(b Break) bool {
			at := b.At.Microseconds()
			return b.Kind == clockJump && within(at, at) || b.Lost != nil && within(b.Lost.From, b.Lost.Open)
		})
}
