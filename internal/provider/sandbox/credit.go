package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// manyTimes is how often one credit may be told on request.
const manyTimes = 1000

type creditRequest struct {
	AccountNumber string     `json:"accountNumber"`
	Amount        money.Kobo `json:"amount"`
	SenderName    string     `json:"senderName"`
	Narration     string     `json:"narration"`
	// Duplicate is true, or how many more times the same notice is sent.
	Duplicate json.RawMessage `json:"duplicate"`
	// Silent credits the account and never tells.
	Silent bool `json:"silent"`
	// Stray lets a credit happen to an account that nobody opened.
	Stray bool `json:"stray"`
}

// creditByHand is POST /sandbox/credit: somebody at another bank pays into an
// account here. A virtual account takes what comes, late or in a wrong amount:
// what becomes of it is for the client to decide.
func (s *Sandbox) creditByHand(r *http.Request) (any, error) {
	var req creditRequest
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	switch {
	case len(req.AccountNumber) != 10 || !digits(req.AccountNumber):
		return nil, complaint(`"accountNumber" must have 10 digits`)
	case req.Amount <= 0:
		return nil, complaint(`"amount" must be naira greater than 0`)
	}
	more, err := again(req.Duplicate)
	if err != nil {
		return nil, err
	}
	v, err := s.receiver(r.Context(), req)
	if err != nil {
		return nil, err
	}
	const from = "000013"
	if req.SenderName == "" {
		first, last := personName(digest("sender", req.AccountNumber))
		req.SenderName = last + " " + first
	}
	t := s.inward(v, from, req.Amount)
	t.debitName, t.debitNumber, t.narration = req.SenderName, accountOf(req.SenderName), req.Narration
	if t.narration == "" {
		t.narration = "Transfer from " + req.SenderName
	}
	copies := 1 + more
	if req.Silent {
		copies = 0
	}
	if err := s.books.Tx(r.Context(), func(q db.Querier) error { return receive(r.Context(), q, t, v.callback, copies) }); err != nil {
		return nil, err
	}
	s.nudge()
	return map[string]any{"status": "success", "data": map[string]any{
		"sessionId": t.session, "accountNumber": v.number, "accountName": v.name, "amount": t.amount, "notices": copies,
		"createdAt": clock.Text(clock.Time(t.createdAt)),
	}}, nil
}

// again is how many more times a notice is sent: "duplicate" of a control, which
// is true or a number.
func again(duplicate json.RawMessage) (more int, err error) {
	var twice bool
	switch {
	case len(duplicate) == 0:
	case json.Unmarshal(duplicate, &twice) == nil:
		if twice {
			more = 1
		}
	case json.Unmarshal(duplicate, &more) != nil || more < 0 || more > manyTimes:
		err = complaint(`"duplicate" must be true or 0 to 1000`)
	}
	return more, err
}

// accountOf is the number of a sender's account, the same each time.
func accountOf(name string) string { return meterToken(name)[10:] }

// receiver is the account that a credit is for.
func (s *Sandbox) receiver(ctx context.Context, req creditRequest) (holder, error) {
	v, err := findHolder(ctx, s.books, req.AccountNumber)
	switch {
	case err == nil && v.number == req.AccountNumber:
		return v, nil
	case err != nil && !errors.Is(err, db.ErrNone):
		return v, err
	case req.Stray:
		return holder{number: req.AccountNumber, id: digest("stray", req.AccountNumber)[:24], kind: "adopted", name: "UNKNOWN"}, nil
	}
	return v, complaint("There is no such account at this bank")
}

// inward is a credit from another bank that has just been made.
func (s *Sandbox) inward(v holder, from string, amount money.Kobo) transfer {
	now := s.clock.Now()
	t := transfer{
		story: story{status: successful, executions: 1}, id: newID(), direction: inwards, session: newSession(from, now),
		account: v.id, virtual: v.kind == "virtual", enquiry: newSession(from, now), bank: bankCode,
		creditNumber: v.number, creditName: v.name, amount: amount, createdAt: clock.Micros(now), updatedAt: clock.Micros(now),
	}
	t.reference = t.session
	if t.virtual {
		t.external = v.reference
	}
	return t
}

// receive writes a credit into the books. It goes on to the client's own account
// at once, as every account of the client is told to do.
func receive(ctx context.Context, q db.Querier, t transfer, callback string, copies int) error {
	if err := addTransfer(ctx, q, t); err != nil {
		return err
	}
	err := enter(ctx, q, line{
		reference: t.session, kind: "credit", payment: t.session, narration: t.creditNumber + " " + t.narration, amount: t.amount,
	}, t.createdAt)
	if err != nil {
		return err
	}
	return announce(ctx, q, callback, t, t.createdAt, copies)
}

// send writes a transfer out into the books and, unless it failed at once, takes
// its amount: all of it, or none. A reference is accepted once and never again.
func (s *Sandbox) send(ctx context.Context, v transfer) error {
	refused := error(nil)
	err := s.books.Tx(ctx, func(q db.Querier) error {
		refused = nil
		n, err := q.Exec(ctx, `UPDATE sandbox_transfer SET requests = requests + 1 WHERE direction = 'Outwards' AND reference = $1`, v.reference)
		if err != nil || n > 0 {
			refused = errRepeated
			return err
		}
		v.requests = 1
		if err := addTransfer(ctx, q, v); err != nil || v.status == failed {
			return err
		}
		if err := enter(ctx, q, v.line("debit", -v.amount), v.createdAt); err != nil {
			return err
		}
		if err := v.charge(ctx, q, "debit", -1, v.createdAt); err != nil {
			return err
		}
		return s.arrived(ctx, q, v)
	})
	return errors.Join(err, refused)
}

func (v *transfer) line(kind string, amount money.Kobo) line {
	narration := v.narration
	if narration == "" {
		narration = "Transfer to " + v.creditNumber
	}
	return line{reference: v.reference, kind: kind, payment: v.reference, narration: narration, amount: amount}
}

// charge takes the price of a transfer, in a line of its own under the same
// payment reference, or gives it back. A transfer that came back after it had
// arrived was carried out: its price is kept.
func (v *transfer) charge(ctx context.Context, q db.Querier, kind string, sign money.Kobo, now int64) error {
	price := v.fees() + v.vat()
	if price == 0 {
		return nil
	}
	l := v.line(kind, sign*price)
	l.reference, l.narration = "charge "+v.reference, "Transfer charge and VAT"
	return enter(ctx, q, l, now)
}

// arrived tells of a transfer that has come to its end, and credits the account
// if it is one of this bank.
func (s *Sandbox) arrived(ctx context.Context, q db.Querier, v transfer) error {
	if v.status == pending {
		return nil
	}
	from, copies := v.updatedAt, 1
	if v.ending == doneAnswerLost || v.ending == doneFault {
		from += tellLater.Microseconds()
	}
	if _, is := late(ctx); is {
		copies = 0
	}
	if err := announce(ctx, q, "", v, from, copies); err != nil || v.status == failed || v.bank != bankCode {
		return err
	}
	to, err := findHolder(ctx, q, v.creditNumber)
	if errors.Is(err, db.ErrNone) || err == nil && (to.number != v.creditNumber || to.kind == "main") {
		return nil // somebody else's account at this bank
	}
	if err != nil {
		return err
	}
	in := s.inward(to, bankCode, v.amount)
	in.debitName, in.debitNumber, in.narration = v.debitName, v.debitNumber, v.narration
	return receive(ctx, q, in, to.callback, 1)
}

// requeryTransfer is a transfer by its session or the client's reference. Asking
// is what makes time pass for one that is pending: the second time it is settled.
func (s *Sandbox) requeryTransfer(ctx context.Context, session, reference string, virtual bool) (transfer, error) {
	var v transfer
	err := s.books.Tx(ctx, func(q db.Querier) error {
		var err error
		v, err = findTransfer(ctx, q, session, reference)
		if err != nil {
			return err
		}
		if v.virtual != virtual {
			return db.ErrNone
		}
		if v.status != pending {
			return nil
		}
		v.poll()
		v.updatedAt = clock.Micros(s.clock.Now())
		if err := updateTransfer(ctx, q, v); err != nil || v.status == pending {
			return err
		}
		if v.status == failed {
			if err := enter(ctx, q, v.line("reversal", v.amount), v.updatedAt); err != nil {
				return err
			}
			if err := v.charge(ctx, q, "reversal", 1, v.updatedAt); err != nil {
				return err
			}
		}
		return s.arrived(ctx, q, v)
	})
	return v, err
}

// reverseByHand is POST /sandbox/reverse {"reference", "silent"?}: a transfer that
// was made comes back, and the client is told, or never.
func (s *Sandbox) reverseByHand(r *http.Request) (any, error) {
	var req struct {
		Reference string `json:"reference"`
		Silent    bool   `json:"silent"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	copies := 1
	if req.Silent {
		copies = 0
	}
	err := s.books.Tx(r.Context(), func(q db.Querier) error {
		v, err := findTransfer(r.Context(), q, "", req.Reference)
		switch {
		case errors.Is(err, db.ErrNone):
			return complaint("There is no transfer with this reference")
		case err != nil:
			return err
		case v.status != successful || v.reversed:
			return complaint("This transfer did not arrive, or came back before")
		}
		v.reversed, v.updatedAt = true, clock.Micros(s.clock.Now())
		if err := updateTransfer(r.Context(), q, v); err != nil {
			return err
		}
		if err := enter(r.Context(), q, v.line("reversal", v.amount), v.updatedAt); err != nil {
			return err
		}
		return announce(r.Context(), q, "", v, v.updatedAt, copies)
	})
	if err != nil {
		return nil, err
	}
	s.nudge()
	return map[string]any{"status": "success"}, nil
}
