package safehaven

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// The directions of a transfer, as Safe Haven spells them.
const (
	inwards  = "Inwards"
	outwards = "Outwards"
)

// newSession returns a new session ID for the interbank system. It consists of the sending bank's
// code, the time and twelve random digits.
func newSession(bank string, at time.Time) string {
	tail := strconv.FormatInt(1_000_000_000_000+rand.Int64N(1_000_000_000_000), 10)[1:]
	return bank + at.UTC().Format("060102150405") + tail
}

type transferRequest struct {
	NameEnquiryReference string     `json:"nameEnquiryReference"`
	DebitAccountNumber   string     `json:"debitAccountNumber"`
	BankCode             string     `json:"beneficiaryBankCode"`
	AccountNumber        string     `json:"beneficiaryAccountNumber"`
	Amount               money.Kobo `json:"amount"`
	Narration            string     `json:"narration"`
	PaymentReference     string     `json:"paymentReference"`
}

// transfer handles POST /transfers. The bank writes its books before it responds. So the books are
// correct even after a crash or a lost response.
func (b *Bank) transfer(w http.ResponseWriter, r *http.Request, req transferRequest) {
	v, err := b.ordered(r.Context(), req)
	if err == nil && v.Begin(v.creditNumber) {
		err = transfers.Accept(r.Context(), b.Books, v, outwardReference, v.reference, func(q db.Querier) error {
			return b.send(r.Context(), q, v)
		})
	}
	b.Finish(w, err, func() {
		b.Nudge()
		b.Reply(w, r, v.Story, "The beneficiary's bank refused this transfer", func() {
			answerBank(w, v.reason(), v.code(), v.record())
		})
	})
}

// ordered checks a transfer request against its name enquiry, and returns the transfer.
func (b *Bank) ordered(ctx context.Context, req transferRequest) (transfer, error) {
	now := b.Clock.Now()
	came, is := books.Late(ctx)
	if !is {
		came = now
	}
	v := transfer{
		id: books.NewID(), direction: outwards, session: newSession(bankCode, now), reference: req.PaymentReference, account: mainAccountID,
		enquiry: req.NameEnquiryReference, bank: req.BankCode, creditNumber: req.AccountNumber, debitNumber: debitAccount,
		debitName: clientName, narration: req.Narration, amount: req.Amount, createdAt: clock.Micros(now), updatedAt: clock.Micros(now),
	}
	switch {
	case len(req.PaymentReference) < 4 || len(req.PaymentReference) > 100:
		return v, books.Complaint("paymentReference must have 4 to 100 characters")
	case req.DebitAccountNumber != debitAccount:
		return v, books.Complaint("debitAccountNumber is not an account of this client")
	case req.Amount <= 0:
		return v, books.Complaint("amount must be greater than 0")
	}
	asked, err := enquiries.One(ctx, b, "session = $1", req.NameEnquiryReference)
	switch {
	case err != nil:
		return v, books.OrNo(err, http.StatusBadRequest, "nameEnquiryReference is not known")
	case asked.bank != req.BankCode || asked.number != req.AccountNumber:
		return v, books.Complaint("nameEnquiryReference is of another account")
	case came.After(clock.Time(asked.createdAt).Add(enquiryLife)):
		return v, books.Complaint("nameEnquiryReference has expired")
	}
	v.creditName = asked.name
	return v, nil
}

type statusRequest struct {
	SessionID        string `json:"sessionId"`
	PaymentReference string `json:"paymentReference"`
}

// showStatus returns the handler of POST /transfers/status, or of POST /virtual-accounts/status for
// credits of virtual accounts. Both find a transfer by its session ID or its payment reference.
func (b *Bank) showStatus(virtual bool) http.HandlerFunc {
	return books.Reading(b.Books, func(w http.ResponseWriter, r *http.Request, req statusRequest) {
		if (req.SessionID == "") == (req.PaymentReference == "") {
			b.Decline(w, http.StatusBadRequest, "one of sessionId and paymentReference is required")
			return
		}
		v, err := b.requery(r.Context(), req, virtual)
		err = b.Deny(r.Context(), req.PaymentReference, err)
		b.Finish(w, books.OrNo(err, http.StatusBadRequest, "Unable to locate record"), func() {
			b.Nudge()
			answerBank(w, "Transfer status fetched", approved, v.record())
		})
	})
}

// listTransfers handles GET /transfers. It lists the newest transfer first.
func (b *Bank) listTransfers(w http.ResponseWriter, r *http.Request) {
	direction, account := r.URL.Query().Get("type"), r.URL.Query().Get("accountId")
	mode, err := b.Setting(r.Context(), listedBy)
	books.List(b.Books, w, r, "Transfers fetched successfully.", transfer.record, func(p books.Page, d books.Span) ([]transfer, int64, error) {
		if err != nil {
			return nil, 0, err
		}
		if account == "" && mode == required {
			return nil, 0, books.Complaint("accountId is required")
		}
		if direction != inwards && direction != outwards {
			return nil, 0, books.Complaint("type must be one of Inwards, Outwards")
		}
		return transfers.Page(r.Context(), b, p,
			"direction = $1 AND ($2 = '' OR account = $2) AND created_at >= $3 AND created_at < $4", "created_at DESC, id",
			direction, account, d.From, d.Before)
	})
}

// answerBank sends a response in the envelope of transfers. The envelope contains a response code
// of the kind that banks use among themselves.
func answerBank(w http.ResponseWriter, message, code string, data any) {
	books.Write(w, http.StatusOK, map[string]any{
		"statusCode": http.StatusOK, "responseCode": code, "responseMessage": reasons[code], "message": message, "data": data,
	})
}

// These are the response codes for the states of a transfer.
const (
	approved = "00"
	underway = "09"
	declined = "05"
)

var reasons = map[string]string{
	approved: "Approved or completed successfully",
	underway: "Request processing in progress",
	declined: "Do not honour",
}

func (v transfer) code() string {
	switch v.Status {
	case books.Pending:
		return underway
	case books.Failed:
		return declined
	default:
		return approved
	}
}

func (v transfer) reason() string { return reasons[v.code()] }

func (v transfer) word() string {
	switch {
	case v.reversed:
		return "Reversed"
	case v.Status == books.Pending:
		return "Pending"
	case v.Status == books.Failed:
		return "Failed"
	default:
		return "Completed"
	}
}

// The charge for a transfer to a different bank depends on these limits of the amount. Transfers up
// to the first limit are free, so that tests include transfers without a charge.
const (
	freeUpTo  = 5_000 * money.Naira
	cheapUpTo = 50_000 * money.Naira
)

func (v transfer) fees() money.Kobo {
	switch {
	case v.direction != outwards || v.bank == bankCode || v.amount <= freeUpTo:
		return 0
	case v.amount <= cheapUpTo:
		return 10 * money.Naira
	}
	return 25 * money.Naira
}

// vat returns 7.5 % of the fees.
func (v transfer) vat() money.Kobo { return v.fees() * 75 / 1000 }

// record returns the transfer as responses, lists and notices show it.
func (v transfer) record() map[string]any {
	out := map[string]any{
		"_id": v.id, "queued": false, "limitExceeded": false, "client": ibsClientID, "type": v.direction, "sessionId": v.session,
		"nameEnquiryReference": v.enquiry, "paymentReference": v.reference, "mandateReference": nil, "isReversed": v.reversed,
		"reversalReference": nil, "provider": "NIBSS", "providerChannel": "NIP", "providerChannelCode": "2",
		"destinationInstitutionCode": v.bank, "creditAccountName": v.creditName, "creditAccountNumber": v.creditNumber,
		"creditBankVerificationNumber": nil, "creditKYCLevel": "3", "debitAccountName": v.debitName, "debitAccountNumber": v.debitNumber,
		"debitBankVerificationNumber": nil, "debitKYCLevel": "3", "transactionLocation": "0,0", "narration": v.narration,
		"amount": v.amount, "fees": v.fees(), "vat": v.vat(), "stampDuty": 0, "responseCode": v.code(), "responseMessage": v.reason(),
		"status": v.word(), "isDeleted": false, "createdAt": books.Text(v.createdAt), "updatedAt": books.Text(v.updatedAt), "__v": 0,
	}
	if !v.virtual {
		out["account"] = v.account
		return out
	}
	out["virtualAccount"], out["externalReference"] = v.account, v.external
	out["provider"], out["providerChannel"], out["providerChannelCode"] = "BANK", "TRANSFER", "IBS"
	return out
}

// notice returns the body of the webhook that reports the transfer.
func (v transfer) notice() ([]byte, error) {
	kind := "transfer"
	if v.virtual {
		kind = "virtualAccount.transfer"
	}
	return json.Marshal(map[string]any{"type": kind, "data": v.record()})
}
