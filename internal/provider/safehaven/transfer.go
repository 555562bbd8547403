package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Banks lists the banks that can be paid.
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

// NameEnquiry asks whose account it is. It moves nothing, so it is a read.
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
	// PaymentReference is all that is left to ask by when an answer is lost.
	PaymentReference string `json:"paymentReference"`
}

// Transfer pays. See judgeTransfer for what the answers mean.
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

// RequeryTransfer asks what became of a transfer.
func (p *Plug) RequeryTransfer(ctx context.Context, reference string) provider.TransferAnswer {
	return judgeTransferStatus(p.ask(ctx, http.MethodPost, "/transfers/status", statusQuery{PaymentReference: reference}), reference)
}

// transfer is money on its way in or out, as it is answered, listed and notified.
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

	VirtualAccount json.RawMessage `json:"virtualAccount"` // an id, or the whole account
}

// word is the status in lower case, as far as nothing beside it takes it back.
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

// charge is what was taken on top. An amount we cannot read is none: the
// statement is where charges are proven.
func (t transfer) charge() (sum money.Kobo) {
	for _, part := range []text{t.Fees, t.VAT, t.StampDuty} {
		if k, ok := naira(part); ok && k > 0 {
			sum += k
		}
	}
	return sum
}

// judgeName decides whose account it is. There being no such account takes a
// definite word of theirs; trouble on the way, and being shut out, say nothing.
func judgeName(r provider.Reply, bankCode, account string) provider.NameAnswer {
	out := provider.NameAnswer{BankCode: bankCode, Account: account}
	if r.Trouble != "" {
		out.Answer = r.Unknown()
		return out
	}
	e, ok := read(r.Body)
	if !ok {
		out.Answer = provider.Unreadable.Answer()
		return out
	}
	var d struct {
		Session         text `json:"sessionId"`
		Name            text `json:"accountName"`
		Account         text `json:"accountNumber"`
		ResponseMessage text `json:"responseMessage"`
	}
	e.into(&d) // without data there is no name, and so no yes
	status, codes := e.status(r.Status), e.codes()
	out.Answer = provider.Answer{
		Code:    provider.First(text(codes.worst()), text(strconv.Itoa(status))),
		Message: provider.Message(provider.First(d.ResponseMessage, e.Message)),
	}
	named := d.Session != "" && d.Name != "" && (d.Account == "" || string(d.Account) == account)
	switch {
	case status/100 == 2 && named && codes.clear() && codes.has(approved):
		out.Outcome, out.Session, out.Name = provider.Confirmed, string(d.Session), string(d.Name)
	case codes.any(unsure), named:
		// Nothing definite.
	case codes.any(noAccount), e.StatusCode != "" && refuses(status) && !e.routed():
		out.Outcome = provider.Rejected
	}
	return out
}

// refuses tells whether a status is a no to what was asked, and not to who asked.
func refuses(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}

// judgeTransfer decides what a transfer's answer means for the money, by the
// same rule as a sale, except that a yes needs the response code 00.
func judgeTransfer(r provider.Reply, reference string) provider.TransferAnswer {
	var t transfer
	a := judge(r, func(e envelope) claim {
		e.into(&t) // without data nothing is claimed
		word := t.word()
		return claim{
			reference: string(t.ID), message: string(t.ResponseMessage), word: word,
			done: delivered[word] && e.codes().has(approved), undone: refusedTransfer[word] || word == reversed,
		}
	})
	if t.PaymentReference != "" && string(t.PaymentReference) != reference {
		return provider.TransferAnswer{Answer: provider.Unreadable.Answer()}
	}
	return t.answered(a)
}

// answered is an answer with what the transfer's data adds to it.
func (t transfer) answered(a provider.Answer) provider.TransferAnswer {
	a.Charge = t.charge()
	out := provider.TransferAnswer{Answer: a, SessionID: string(t.SessionID)}
	if amount, ok := naira(t.Amount); ok {
		out.Amount = amount
	}
	if a.Outcome == provider.Rejected && t.word() == reversed {
		out.Reversed, out.Code = true, reversed
		if plain(string(t.ResponseCode)) {
			// Their words are still those of the transfer: "Approved or completed".
			out.Message = "The bank returned the money"
		}
	}
	return out
}

// judgeTransferStatus decides what a transfer's record means for the money. No
// trouble on the way, and no refusal to tell us, says anything about it.
func judgeTransferStatus(r provider.Reply, reference string) provider.TransferAnswer {
	t, a := judgeStatus(r)
	if t.PaymentReference != "" && string(t.PaymentReference) != reference {
		return provider.TransferAnswer{Answer: provider.Answer{Code: provider.CodeUnreadable}} // somebody else's
	}
	return t.answered(a)
}

// judgeStatus reads the record of a transfer in or out and decides what became
// of it.
func judgeStatus(r provider.Reply) (transfer, provider.Answer) {
	var t transfer
	if r.Trouble != "" {
		return t, r.Unknown()
	}
	e, ok := read(r.Body)
	if !ok {
		return t, provider.Unreadable.Answer()
	}
	status, codes := e.status(r.Status), e.codes()
	a := provider.Answer{Code: provider.First(text(codes.worst()), text(strconv.Itoa(status)))}
	shown := e.into(&t) && t.Status != ""
	if !shown && (e.missing(status) || status/100 == 2 && codes.has(unlocated)) {
		a.Missing = true
		return t, a
	}
	if !shown || status/100 != 2 {
		return transfer{}, a
	}
	a.Outcome, a.Reference, a.Message = t.outcome(codes), string(t.ID), provider.Message(string(t.ResponseMessage))
	if w := t.word(); codes.clear() {
		a.Code = w
	}
	return t, a
}

// outcome is what the record says, unless its own codes speak against it.
func (t transfer) outcome(c codes) provider.Outcome {
	switch w := t.word(); {
	case w == reversed: // the money came back, whatever was said before
		return provider.Rejected
	case c.any(unsure):
		return provider.Unknown
	case delivered[w] && c.clear():
		return provider.Confirmed
	case refusedTransfer[w]:
		return provider.Rejected
	default:
		return provider.Unknown
	}
}
