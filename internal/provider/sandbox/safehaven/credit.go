package safehaven

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// noticeDelay is the time after which a notice is sent if the response to the transfer was lost. In
// the meantime a client can learn the outcome from a requery.
const noticeDelay = 20 * time.Second

type creditRequest struct {
	AccountNumber string     `json:"accountNumber"`
	Amount        money.Kobo `json:"amount"`
	SenderName    string     `json:"senderName"`
	Narration     string     `json:"narration"`
	// Duplicate is true for one additional copy of the notice, or the number of additional copies.
	Duplicate json.RawMessage `json:"duplicate"`
	// Silent credits the account but sends no notice.
	Silent bool `json:"silent"`
	// Stray allows a credit to an account that no request has opened. From then on the bank lists it.
	Stray bool `json:"stray"`
}

// creditByHand handles POST /sandbox/credit, which simulates a credit from a different bank. A
// virtual account receives late credits and wrong amounts too, since the client decides what to do
// with them.
func (b *Bank) creditByHand(ctx context.Context, req creditRequest) (any, error) {
	switch {
	case len(req.AccountNumber) != 10 || !books.IsDigits(req.AccountNumber):
		return nil, books.Complaint(`"accountNumber" must have 10 digits`)
	case req.Amount <= 0 || req.Amount > money.Max:
		return nil, books.Complaint(`"amount" must be naira greater than 0, and at most 100,000,000,000`)
	}
	copies, err := books.Copies(req.Duplicate)
	if err != nil {
		return nil, err
	}
	v, err := b.receiver(ctx, req)
	if err != nil {
		return nil, err
	}
	const from = "000013"
	if req.SenderName == "" {
		req.SenderName = nameOf("sender", req.AccountNumber)
	}
	t := b.inward(v, from, req.Amount)
	t.debitName, t.debitNumber, t.narration = req.SenderName, books.MeterToken(req.SenderName)[10:], req.Narration
	if t.narration == "" {
		t.narration = "Transfer from " + req.SenderName
	}
	if copies++; req.Silent {
		copies = 0
	}
	if err := b.Tx(ctx, func(q db.Querier) error { return receive(ctx, q, t, v.callback, copies) }); err != nil {
		return nil, err
	}
	b.Nudge()
	return map[string]any{"status": "success", "data": map[string]any{
		"sessionId": t.session, "accountNumber": v.number, "accountName": v.name, "amount": t.amount, "notices": copies,
		"createdAt": books.Text(t.createdAt),
	}}, nil
}

// receiver returns the account that a credit goes to.
func (b *Bank) receiver(ctx context.Context, req creditRequest) (holder, error) {
	v, err := findHolder(ctx, b, req.AccountNumber)
	switch {
	case err == nil && v.number == req.AccountNumber:
		return v, nil
	case err != nil && !errors.Is(err, db.ErrNone):
		return v, err
	case req.Stray:
		v = holder{
			number: req.AccountNumber, id: books.Digest("stray", req.AccountNumber)[:24], kind: "adopted", name: "UNKNOWN", createdAt: b.Now(),
		}
		_, err = holders.Add(ctx, b, v)
		return v, err
	}
	return v, books.Complaint("There is no such account at this bank")
}

// inward returns a new credit to the account v. The parameter from is the code of the paying bank.
func (b *Bank) inward(v holder, from string, amount money.Kobo) transfer {
	now := b.Clock.Now()
	t := transfer{
		Story: books.Story{Status: books.Successful, Executions: 1}, id: books.NewID(), direction: inwards, session: newSession(from, now),
		account: v.id, virtual: v.kind == "virtual", enquiry: newSession(from, now), bank: bankCode,
		creditNumber: v.number, creditName: v.name, amount: amount, createdAt: clock.Micros(now), updatedAt: clock.Micros(now),
	}
	t.reference = t.session
	if t.virtual {
		t.external = v.reference
	}
	return t
}

// receive records a credit to an account. The money is immediately forwarded to the client's main
// account, as the client requests for every account.
func receive(ctx context.Context, q db.Querier, t transfer, callback string, copies int64) error {
	if err := transfers.Insert(ctx, q, t); err != nil {
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

// send debits the amount and the charge of a transfer, unless the transfer failed immediately.
func (b *Bank) send(ctx context.Context, q db.Querier, v transfer) error {
	if v.Status == books.Failed {
		return nil
	}
	if err := enter(ctx, q, v.line("debit", -v.amount), v.createdAt); err != nil {
		return err
	}
	if err := v.charge(ctx, q, "debit", -1, v.createdAt); err != nil {
		return err
	}
	return b.arrived(ctx, q, v)
}

func (v transfer) line(kind string, amount money.Kobo) line {
	narration := v.narration
	if narration == "" {
		narration = "Transfer to " + v.creditNumber
	}
	return line{reference: v.reference, kind: kind, payment: v.reference, narration: narration, amount: amount}
}

// charge debits the charge of a transfer, or returns it to the client. The charge is a separate
// line on the statement, with the same payment reference. If a transfer arrived and was returned
// later, the bank does not return the charge.
func (v transfer) charge(ctx context.Context, q db.Querier, kind string, sign money.Kobo, now int64) error {
	price := v.fees() + v.vat()
	if price == 0 {
		return nil
	}
	l := v.line(kind, sign*price)
	l.reference, l.narration = "charge "+v.reference, "Transfer charge and VAT"
	return enter(ctx, q, l, now)
}

// arrived sends the notice of a transfer that has an outcome. If the beneficiary's account is at
// this bank, arrived also credits that account.
func (b *Bank) arrived(ctx context.Context, q db.Querier, v transfer) error {
	if v.Status == books.Pending {
		return nil
	}
	from, copies := v.updatedAt, int64(1)
	if v.Ending == books.DoneAnswerLost || v.Ending == books.DoneFault {
		from += noticeDelay.Microseconds()
	}
	if _, is := books.Late(ctx); is {
		copies = 0
	}
	if err := announce(ctx, q, "", v, from, copies); err != nil || v.Status == books.Failed || v.bank != bankCode {
		return err
	}
	to, err := findHolder(ctx, q, v.creditNumber)
	if errors.Is(err, db.ErrNone) || err == nil && (to.number != v.creditNumber || to.kind == "main") {
		return nil // the account belongs to a different client of this bank
	}
	if err != nil {
		return err
	}
	in := b.inward(to, bankCode, v.amount)
	in.debitName, in.debitNumber, in.narration = v.debitName, v.debitNumber, v.narration
	return receive(ctx, q, in, to.callback, 1)
}

// requery handles a requery of a transfer, by the session ID or by the client's reference. The
// second requery gives a pending transfer its final status.
func (b *Bank) requery(ctx context.Context, req statusRequest, virtual bool) (v transfer, err error) {
	err = b.Tx(ctx, func(q db.Querier) (err error) {
		v, err = findTransfer(ctx, q, req.SessionID, req.PaymentReference)
		if err == nil && v.virtual != virtual {
			err = db.ErrNone
		}
		if err != nil {
			return err
		}
		if v.Status == books.Pending {
			v.updatedAt = b.Now()
		}
		if settled, err := transfers.Poll(ctx, q, &v, &v.Story); err != nil || !settled {
			return err
		}
		if v.Status == books.Failed {
			if err := enter(ctx, q, v.line("reversal", v.amount), v.updatedAt); err != nil {
				return err
			}
			if err := v.charge(ctx, q, "reversal", 1, v.updatedAt); err != nil {
				return err
			}
		}
		return b.arrived(ctx, q, v)
	})
	return v, err
}

type reverseRequest struct {
	Reference string `json:"reference"`
	Silent    bool   `json:"silent"`
}

// reverseByHand handles POST /sandbox/reverse, which returns the money of a transfer that arrived.
// The bank sends a notice, unless the request is silent.
func (b *Bank) reverseByHand(ctx context.Context, req reverseRequest) (any, error) {
	copies := int64(1)
	if req.Silent {
		copies = 0
	}
	err := b.Tx(ctx, func(q db.Querier) error {
		v, err := findTransfer(ctx, q, "", req.Reference)
		switch {
		case err != nil:
			return books.OrNo(err, http.StatusBadRequest, "There is no transfer with this reference")
		case v.Status != books.Successful || v.reversed:
			return books.Complaint("This transfer did not arrive, or came back before")
		}
		v.reversed, v.updatedAt = true, b.Now()
		if err := transfers.Update(ctx, q, v); err != nil {
			return err
		}
		if err := enter(ctx, q, v.line("reversal", v.amount), v.updatedAt); err != nil {
			return err
		}
		return announce(ctx, q, "", v, v.updatedAt, copies)
	})
	if err != nil {
		return nil, err
	}
	b.Nudge()
	return books.Success, nil
}
