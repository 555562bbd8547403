package report

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// This file compares operations with their events quickly. The same facts are in the operations and
// in the events. The file adds up the hashes of the facts of each copy. Equal sums mean equal
// facts, in any order. If the sums differ, a slower SQL query finds the rows. The seed of the
// hashes is new each time, so an attacker cannot prepare different facts with an equal sum.

// digest sums up the hashes of one copy of the facts.
type digest struct {
	seed  maphash.Seed
	fact  []byte            // a buffer for one fact
	step  []byte            // a buffer for one step
	sum   uint64            // the sum of the hashes of all facts, in any order
	order map[string]uint64 // by clearing account, a hash of the transfers' steps in order
}

func newDigest(seed maphash.Seed) *digest { return &digest{seed: seed, order: map[string]uint64{}} }

func (t *digest) add(fact []byte) { t.sum += maphash.Bytes(t.seed, fact) }

// then adds one step of an operation's transfers to the digest. The order of the steps matters.
func (t *digest) then(account, reference, step string) {
	const prime = 1099511628211
	t.step = append(append(append(t.step[:0], reference...), 0), step...)
	t.order[account] = t.order[account]*prime + maphash.Bytes(t.seed, t.step)
}

func (t *digest) equals(u *digest) bool {
	if t.sum != u.sum || len(t.order) != len(u.order) {
		return false
	}
	for account, n := range t.order {
		if u.order[account] != n {
			return false
		}
	}
	return true
}

// steps has the steps of the transfers through a clearing account, in the order of eventKinds.
// A reversal does not pass through a clearing account.
var steps = [...]string{"", "settle", "refund"}

// eventsAgree reports whether each operation has each of its events exactly once, in the right
// order, and with the right data. It calls seen with each event of the company, with all columns.
func eventsAgree(ctx context.Context, q db.Querier, company string, seen func(event []string)) (bool, error) {
	seed := maphash.MakeSeed()
	said, due := newDigest(seed), newDigest(seed)
	if err := said.addEvents(ctx, q, company, seen); err != nil {
		return false, err
	}
	if err := due.addOperations(ctx, q, company); err != nil {
		return false, err
	}
	for _, account := range []string{"clearing/payout", "clearing/vtu", "clearing/card"} {
		if err := due.addSteps(ctx, q, company, account); err != nil {
			return false, err
		}
	}
	return said.equals(due), nil
}

// addEvents adds the facts that the events of operations contain.
func (t *digest) addEvents(ctx context.Context, q db.Querier, company string, seen func(event []string)) error {
	last := int64(math.MinInt64)
	return db.Pages(ctx, q, allEvents, 8, func() []any { return []any{company, last} }, func(row []string) error {
		seen(row)
		kind, data := row[3], unpacked(row[4])
		if !toldOfOperations[kind] {
			return db.Numbers(row[1:], &last)
		}
		var subject string
		t.fact, subject = factOf(append(t.fact[:0], kind...), kind, data)
		t.add(t.fact)
		noun, _, _ := strings.Cut(kind, ".")
		kinds := eventKinds[noun]
		if i := slices.Index(kinds[:], kind); i >= 0 && i < len(steps) {
			t.then("clearing/"+noun, subject, steps[i])
		}
		return db.Numbers(row[1:], &last)
	})
}

// addOperations adds the facts that the events must contain, according to the operations.
func (t *digest) addOperations(ctx context.Context, q db.Querier, company string) error {
	last := ""
	return db.Pages(ctx, q, dueOfOperations, 12, func() []any { return []any{company, last} }, func(row []string) error {
		last = row[0]
		o := dueOf{
			id: row[0], kind: row[1], state: row[2], key: row[3], account: row[4], bank: row[5],
			phone: row[6], card: row[7], meter: row[8], settlementID: row[9],
		}
		var amount, fee int64
		err := db.Numbers(row[10:], &amount, &fee)
		o.amount, o.fee = money.Kobo(amount), money.Kobo(fee)
		t.fact = o.add(t, t.fact)
		return err
	})
}

// addSteps adds the steps of a clearing account's transfers, in the order of the entries.
func (t *digest) addSteps(ctx context.Context, q db.Querier, company, account string) error {
	last := int64(math.MinInt64)
	return db.Pages(ctx, q, clearingSteps, 3, func() []any { return []any{company, account, last} }, func(row []string) error {
		t.then(account, row[1], row[2])
		return db.Numbers(row, &last)
	})
}

// factOf reads an event's data and appends to fact those parts that the operation's row contains
// too. It also returns the operation's id.
func factOf(fact []byte, kind, data string) (out []byte, subject string) {
	part := func(from, to string) {
		if i := strings.Index(data, from); i >= 0 {
			if j := strings.Index(data[i:], to); j >= 0 {
				fact = append(fact, data[i:i+j]...)
			}
		}
		fact = append(fact, '\n')
	}
	begun := strings.HasSuffix(kind, "pending")
	switch {
	case strings.HasPrefix(kind, "vtu."):
		part(`{"transactionId":`, `,"type":`)
		part(`"amount":`, `,"createdAt":`)
		part(`"idempotencyKey":`, `,"serviceCategoryId":`)
		if begun {
			part(`"phoneNumber":`, `,"providerReference":`)
			part(`"meterNumber":`, `,"token":`)
		}
	case strings.HasPrefix(kind, "payout."):
		part(`{"reference":`, `,"account_name":`)
		if begun {
			part(`"account_number":`, `,"narration":`)
			part(`"settlementId":`, `,"completedAt":`)
		}
	default:
		part(`{"reference":`, `,"cardId":`)
		part(`"amount":`, `,"refunded":`)
		part(`"settlementId":`, `,"createdAt":`)
	}
	_, rest, _ := strings.Cut(data, `":"`)
	subject, _, _ = strings.Cut(rest, `"`)
	return fact, subject
}

// dueOf has the facts of one operation that its events must contain.
type dueOf struct {
	id, kind, state, key string
	account, bank        string // for a payout
	phone, card, meter   string // for a purchase
	settlementID         string
	amount, fee          money.Kobo
}

// eventKinds has the kinds of events for each kind of operation. Their order is begin, success,
// failure and reversal.
var eventKinds = map[string][4]string{
	"payout": {"payout.pending", "payout.success", "payout.failed", "payout.reversed"},
	"vtu":    {"vtu.pending", "vtu.success", "vtu.failed", "vtu.reversed"},
	"card":   {"card.funding_pending", "card.funded", "card.funding_failed", "card.funding_reversed"},
}

// add adds the facts that all events of the operation must contain.
func (o dueOf) add(t *digest, fact []byte) []byte {
	for i, state := range [...]string{"PENDING", "SUCCESS", "FAILED", "REVERSED"} {
		if i == 0 || state == o.state || state == "SUCCESS" && o.state == "REVERSED" {
			fact = o.fact(fact[:0], eventKinds[o.kind][i], state)
			t.add(fact)
		}
	}
	return fact
}

// fact appends the fact that an event of this kind must contain. The fact has the same form as in
// factOf.
func (o dueOf) fact(b []byte, kind, state string) []byte {
	put := func(parts ...string) {
		for _, p := range parts {
			b = append(b, p...)
		}
	}
	put(kind)
	switch o.kind {
	case "vtu":
		put(`{"transactionId":"`, o.id, `","status":"`, state, "\"\n", `"amount":"`, o.amount.Decimal(), "\"\n",
			`"idempotencyKey":`, text(o.key), `,"settlementId":`, o.settlementID, "\n")
		if state == "PENDING" {
			put(`"phoneNumber":`, text(o.phone), `,"cardNumber":`, text(o.card), "\n", `"meterNumber":`, text(o.meter), "\n")
		}
	case "payout":
		put(`{"reference":"`, o.id, `","amount":`, o.amount.Number(), `,"fee":`, o.fee.Number(), `,"status":"`, state, "\"\n")
		if state == "PENDING" {
			put(`"account_number":`, text(o.account), `,"bank_code":`, text(o.bank), "\n", `"settlementId":`, o.settlementID, "\n")
		}
	default:
		put(`{"reference":"`, o.id, "\"\n", `"amount":`, o.amount.Number(), `,"status":"`, state, "\"\n", `"settlementId":`, o.settlementID, "\n")
	}
	return b
}

// text returns a text as the JSON that events contain. For an empty text it returns null.
func text(s string) string {
	if s == "" {
		return "null"
	}
	if plain(s) {
		return `"` + s + `"`
	}
	b, err := json.Marshal(s)
	if err != nil {
		return "" // JSON can write every text
	}
	return string(b)
}

// plain reports whether JSON writes a text without escapes.
func plain(s string) bool {
	for _, c := range []byte(s) {
		if c < 0x20 || c > 0x7e || strings.IndexByte(`"\<>&`, c) >= 0 {
			return false
		}
	}
	return true
}

// toldOfOperations are the kinds of events about operations.
var toldOfOperations = map[string]bool{
	"payout.pending": true, "payout.success": true, "payout.failed": true, "payout.reversed": true,
	"vtu.pending": true, "vtu.success": true, "vtu.failed": true, "vtu.reversed": true,
	"card.funding_pending": true, "card.funded": true, "card.funding_failed": true,
}

const (
	// allEvents selects all columns of the events, in the order of their table.
	allEvents = `
	SELECT company_id, sequence, id, kind, data, created_at, leaf, mac
	FROM event WHERE company_id = $1 AND sequence >= $2 ORDER BY sequence`
	// dueOfOperations selects an empty account number if the payout's name verification is for a
	// different settlement account or provider. It also does so if the payout's Idempotency-Key is
	// wrong. Then the sums of the two copies differ.
	dueOfOperations = `
	SELECT o.id, o.kind, o.state, o.idempotency_key,
		CASE WHEN v.settlement_id = o.settlement_id AND v.provider = o.provider AND o.idempotency_key = o.id THEN v.account_number ELSE '' END,
		coalesce(v.bank_code, ''), coalesce(p.phone_number, ''), coalesce(p.card_number, ''), coalesce(p.meter_number, ''),
		o.settlement_id, o.amount_kobo, o.fee_kobo
	FROM operation AS o
	LEFT JOIN payout_verification AS v ON o.kind = 'payout' AND v.company_id = o.company_id AND v.id = o.id
	LEFT JOIN vtu_purchase AS p ON o.kind = 'vtu' AND p.company_id = o.company_id AND p.id = o.id
	WHERE o.company_id = $1 AND o.id >= $2 AND o.kind IN ('payout', 'vtu', 'card')
	ORDER BY o.id`
	clearingSteps = `
	SELECT sequence, reference, step FROM ledger_entry
	WHERE company_id = $1 AND account_id = $2 AND sequence >= $3 AND step <> 'settle-fee'
	ORDER BY sequence`
)
