package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Banks lists the banks to which a transfer can go.
func (p *Plug) Banks(ctx context.Context) ([]provider.BankCode, error) {
	var rows []struct {
		Name     text `json:"name"`
		BankCode text `json:"bankCode"`
	}
	if err := p.list(ctx, "/transfers/banks", &rows); err != nil {
		return nil, err
	}
	var out []provider.BankCode
	for _, r := range rows {
		if r.Name != "" && r.BankCode != "" {
			out = append(out, provider.BankCode{Code: string(r.BankCode), Name: string(r.Name)})
		}
	}
	return out, nil
}

type nameEnquiry struct {
	BankCode      string `json:"bankCode"`
	AccountNumber string `json:"accountNumber"`
}

// NameEnquiry asks for the holder's name of an account. It moves no money, so it may be repeated.
func (p *Plug) NameEnquiry(ctx context.Context, bankCode, account string) provider.NameAnswer {
	return judgeName(p.ask(ctx, http.MethodPost, "/transfers/name-enquiry", nameEnquiry{bankCode, account}), bankCode, account)
}

type transferOrder struct {
	NameEnquiryReference     string      `json:"nameEnquiryReference"`
	DebitAccountNumber       string      `json:"debitAccountNumber"`
	BeneficiaryBankCode      string      `json:"beneficiaryBankCode"`
	BeneficiaryAccountNumber string      `json:"beneficiaryAccountNumber"`
	Amount                   json.Number `json:"amount"`
	SaveBeneficiary          bool        `json:"saveBeneficiary"`
	Narration                string      `json:"narration,omitempty"`
	// PaymentReference is the reference for the requery if the reply is lost.
	PaymentReference string `json:"paymentReference"`
}

// Transfer sends an amount to an account, as the order t states. judgeTransfer derives the outcome
// from the reply.
func (p *Plug) Transfer(ctx context.Context, t provider.TransferOrder) provider.TransferAnswer {
	return judgeTransfer(p.once(ctx, "/transfers", transferOrder{
		NameEnquiryReference: t.NameEnquirySession, DebitAccountNumber: p.account, BeneficiaryBankCode: t.BankCode,
		BeneficiaryAccountNumber: t.Account, Amount: json.Number(t.Amount.Number()), Narration: t.Narration, PaymentReference: t.Reference,
	}), t.Reference)
}

type statusQuery struct {
	SessionID        string `json:"sessionId,omitempty"`
	PaymentReference string `json:"paymentReference,omitempty"`
}

// RequeryTransfer asks for the outcome of a transfer.
func (p *Plug) RequeryTransfer(ctx context.Context, reference string) provider.TransferAnswer {
	return judgeTransferStatus(p.ask(ctx, http.MethodPost, "/transfers/status", statusQuery{PaymentReference: reference}), reference)
}

// transfer is an incoming or outgoing transfer, as it appears in replies, lists and notifications.
type transfer struct {
	ID                  text `json:"_id"`
	Type                text `json:"type"`
	SessionID           text `json:"sessionId"`
	PaymentReference    text `json:"paymentReference"`
	ExternalReference   text `json:"externalReference"`
	CreditAccountNumber text `json:"creditAccountNumber"`
	DebitAccountName    text `json:"debitAccountName"`
	DebitAccountNumber  text `json:"debitAccountNumber"`
	Narration           text `json:"narration"`
	Amount              text `json:"amount"`
	Fees                text `json:"fees"`
	VAT                 text `json:"vat"`
	StampDuty           text `json:"stampDuty"`
	ResponseCode        text `json:"responseCode"`
	ResponseMessage     text `json:"responseMessage"`
	Status              text `json:"status"`
	CreatedAt           text `json:"createdAt"`
	Queued              flag `json:"queued"`
	LimitExceeded       flag `json:"limitExceeded"`
	IsReversed          flag `json:"isReversed"`

	VirtualAccount json.RawMessage `json:"virtualAccount"` // an id, or the whole account as an object
}

// word returns the status in lower case. If a different field contradicts the status, word returns
// "reversed" or "queued" instead.
func (t transfer) word() string {
	switch w := lower(t.Status); {
	case bool(t.IsReversed):
		return reversed
	case bool(t.Queued), bool(t.LimitExceeded):
		return "queued"
	default:
		return w
	}
}

// charge returns the bank's charge on top of the amount. An unreadable charge counts as zero, since
// the bank's statement shows the charges anyway.
func (t transfer) charge() (sum money.Kobo) {
	for _, part := range []text{t.Fees, t.VAT, t.StampDuty} {
		if k, ok := naira(part); ok && k > 0 {
			sum += k
		}
	}
	return sum
}

// judgeName converts the bank's reply to a name enquiry into a NameAnswer.
func judgeName(r provider.Reply, bankCode, account string) provider.NameAnswer {
	out := provider.NameAnswer{BankCode: bankCode, Account: account}
	e, a, ok := asked(r)
	if !ok {
		out.Answer = a
		return out
	}
	var d struct {
		Session         text `json:"sessionId"`
		Name            text `json:"accountName"`
		Account         text `json:"accountNumber"`
		ResponseMessage text `json:"responseMessage"`
	}
	e.into(&d) // without data there is no name, so the outcome is not Confirmed
	named := d.Session != "" && d.Name != "" && (d.Account == "" || string(d.Account) == account)
	out.Answer = judgeLookup(r, e, d.ResponseMessage, named, e.codes().has(approved))
	if out.Outcome == provider.Confirmed {
		out.Session, out.Name = string(d.Session), string(d.Name)
	}
	return out
}

// judgeTransfer derives the outcome of a transfer from the reply. It applies the same rules as for
// a purchase, but a success also requires the response code 00.
func judgeTransfer(r provider.Reply, reference string) provider.TransferAnswer {
	var t transfer
	a := judge(r, func(e envelope) claim {
		e.into(&t) // if the reply has no data, t stays empty and states nothing
		word := t.word()
		return claim{
			reference: string(t.ID), message: string(t.ResponseMessage), word: word,
			done: delivered[word] && e.codes().has(approved), undone: refusedTransfer[word] || word == reversed,
		}
	})
	if t.PaymentReference != "" && string(t.PaymentReference) != reference {
		// The session ID is left out, because it would name the other payment's lines on the statement.
		return provider.TransferAnswer{Answer: provider.Other(a.Reference)}
	}
	return t.answered(a)
}

// answered adds the transfer's charge, session ID and amount to the answer a.
func (t transfer) answered(a provider.Answer) provider.TransferAnswer {
	a.Charge = t.charge()
	out := provider.TransferAnswer{Answer: a, SessionID: string(t.SessionID)}
	if amount, ok := naira(t.Amount); ok {
		out.Amount = amount
	}
	if a.Outcome == provider.Rejected && t.word() == reversed {
		out.Reversed, out.Code = true, reversed
		if plain(string(t.ResponseCode)) {
			// The bank's message still describes the original transfer ("Approved or completed"),
			// so a message about the return replaces it.
			out.Message = "The bank returned the money"
		}
	}
	return out
}

// judgeTransferStatus derives the outcome of a transfer from its record. A failed or refused
// requery proves nothing about the transfer.
func judgeTransferStatus(r provider.Reply, reference string) provider.TransferAnswer {
	t, a := judgeStatus(r, false)
	if t.PaymentReference != "" && string(t.PaymentReference) != reference {
		return provider.TransferAnswer{Answer: provider.Answer{Code: provider.CodeUnreadable}} // this is a different transfer
	}
	return t.answered(a)
}

// judgeStatus reads the bank's record of an incoming or outgoing transfer, and derives the
// transfer's outcome. The parameter virtual is true for a credit to a virtual account.
func judgeStatus(r provider.Reply, virtual bool) (transfer, provider.Answer) {
	var t transfer
	e, a, ok := asked(r)
	if !ok {
		return t, a
	}
	status, codes := e.status(r.Status), e.codes()
	a = provider.Answer{Code: provider.First(text(codes.worst()), text(strconv.Itoa(status)))}
	shown := e.into(&t) && t.Status != ""
	if !shown && (e.missing(status) || status/100 == 2 && codes.has(unlocated)) {
		a.Missing = true
		return t, a
	}
	if !shown || status/100 != 2 {
		return transfer{}, a
	}
	a.Outcome, a.Reference, a.Message = t.outcome(codes, virtual), string(t.ID), provider.Message(string(t.ResponseMessage))
	if w := t.word(); codes.clear() {
		a.Code = w
	}
	return t, a
}

// outcome returns the outcome that the record states. It returns Unknown if the response codes
// contradict the status.
func (t transfer) outcome(c codes, virtual bool) provider.Outcome {
	switch w := t.word(); {
	case w == reversed: // the money was returned
		return provider.Rejected
	case c.any(unsure):
		return provider.Unknown
	case (delivered[w] || virtual && w == admitted) && c.clear():
		return provider.Confirmed
	case refusedTransfer[w]:
		return provider.Rejected
	default:
		return provider.Unknown
	}
}
