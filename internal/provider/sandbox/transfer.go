package sandbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// The two directions, as upstream spells them.
const (
	inwards  = "Inwards"
	outwards = "Outwards"
)

// nobody is the ending of an account that does not exist.
const nobody = "99"

// enquiryLife is how long the session of a name enquiry is good for a transfer.
const enquiryLife = 30 * time.Minute

// tellLater is how long the notice of a transfer waits whose answer was lost, so
// that those who ask are told first.
const tellLater = 20 * time.Second

// transfer is money that came in or went out.
type transfer struct {
	story
	id, direction            string
	session, reference       string
	external                 string // the client's reference of a virtual account
	account                  string // the id of the holder at this bank
	virtual                  bool
	enquiry                  string
	bank                     string
	creditNumber, creditName string
	debitNumber, debitName   string
	narration                string
	amount                   money.Kobo
	reversed                 bool
	createdAt, updatedAt     int64
}

// newSession is an id between the banks: the code of the one that began, the
// time, twelve digits.
func newSession(bank string, at time.Time) string {
	tail := strconv.FormatInt(1_000_000_000_000+rand.Int64N(1_000_000_000_000), 10)[1:]
	return bank + at.UTC().Format("060102150405") + tail
}

// nameEnquiry is POST /transfers/name-enquiry.
func (s *Sandbox) nameEnquiry(w http.ResponseWriter, r *http.Request) {
	var req struct {
		BankCode      string `json:"bankCode"`
		AccountNumber string `json:"accountNumber"`
	}
	if !s.decode(w, r, &req) {
		return
	}
	if !knownBank(req.BankCode) {
		s.decline(w, http.StatusBadRequest, "bankCode is not a bank that can be paid")
		return
	}
	name, err := s.nameOn(r.Context(), req.BankCode, req.AccountNumber)
	switch {
	case errors.Is(err, db.ErrNone):
		s.decline(w, http.StatusBadRequest, "Account does not exist")
		return
	case err != nil:
		broken(w)
		return
	}
	now := s.clock.Now()
	v := enquiry{newSession(bankCode, now), req.BankCode, req.AccountNumber, name, clock.Micros(now)}
	if err := s.addEnquiry(r.Context(), v); err != nil {
		broken(w)
		return
	}
	answerBank(w, "Account details fetched", approved, map[string]any{
		"responseCode": approved, "responseMessage": reasons[approved], "sessionId": v.session,
		"bankCode": v.bank, "accountNumber": v.number, "accountName": v.name, "kycLevel": "3", "bvn": "",
	})
}

// nameOn is the name on an account: a given one, that of an account here, or one
// that is made up and stays the same. db.ErrNone means that there is no such
// account.
func (s *Sandbox) nameOn(ctx context.Context, bank, number string) (string, error) {
	if name, err := s.setting(ctx, "name "+bank+" "+number); err != nil || name != "" {
		return name, err
	}
	if bank == bankCode {
		v, err := findHolder(ctx, s.books, number)
		if err == nil && v.number == number {
			return v.name, nil
		}
		if err != nil && !errors.Is(err, db.ErrNone) {
			return "", err
		}
	}
	if len(number) != 10 || !digits(number) || number[8:] == nobody {
		return "", db.ErrNone
	}
	return beneficiary(bank, number), nil
}

// renameAccount is POST /sandbox/account-name {"bankCode", "accountNumber",
// "accountName"}: an account changes its name, as between an enquiry and a
// payout that comes late.
func (s *Sandbox) renameAccount(r *http.Request) (any, error) {
	var req struct {
		BankCode      string `json:"bankCode"`
		AccountNumber string `json:"accountNumber"`
		AccountName   string `json:"accountName"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	if !knownBank(req.BankCode) || req.AccountNumber == "" || req.AccountName == "" {
		return nil, complaint(`"bankCode" of a known bank, "accountNumber" and "accountName" are required`)
	}
	if err := s.set(r.Context(), "name "+req.BankCode+" "+req.AccountNumber, req.AccountName); err != nil {
		return nil, err
	}
	return map[string]any{"status": "success"}, nil
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

// transfer is POST /transfers. The books are written before any answer, so what
// was answered, or lost on the way, is true after a crash too.
func (s *Sandbox) transfer(w http.ResponseWriter, r *http.Request) {
	var req transferRequest
	if !s.decode(w, r, &req) {
		return
	}
	v, err := s.ordered(r.Context(), req)
	if err == nil && v.tell(v.creditNumber) {
		err = s.send(r.Context(), v)
	}
	var no complaint
	switch {
	case errors.Is(err, errRepeated):
		s.repeat(w)
		return
	case errors.Is(err, errPoor):
		s.decline(w, http.StatusBadRequest, "Insufficient funds")
		return
	case errors.As(err, &no):
		s.decline(w, http.StatusBadRequest, string(no))
		return
	case err != nil:
		broken(w)
		return
	}
	s.nudge()
	s.reply(w, r, v.story, "The beneficiary's bank refused this transfer", func() {
		answerBank(w, v.reason(), v.code(), v.record())
	})
}

// repeat answers a paymentReference that was used before: a duplicate record, in
// either of two dresses.
func (s *Sandbox) repeat(w http.ResponseWriter) {
	status := http.StatusOK
	if s.refusals.Add(1)%2 == 0 {
		status = http.StatusBadRequest
	}
	write(w, status, map[string]any{
		"statusCode": http.StatusBadRequest, "responseCode": "94", "message": "Duplicate record", "error": "Bad Request", "error_description": nil,
	})
}

// ordered checks a transfer against the name enquiry that it refers to.
func (s *Sandbox) ordered(ctx context.Context, req transferRequest) (transfer, error) {
	now := s.clock.Now()
	came, is := late(ctx)
	if !is {
		came = now
	}
	v := transfer{
		id: newID(), direction: outwards, session: newSession(bankCode, now), reference: req.PaymentReference, account: mainAccountID,
		enquiry: req.NameEnquiryReference, bank: req.BankCode, creditNumber: req.AccountNumber, debitNumber: debitAccount,
		debitName: clientName, narration: req.Narration, amount: req.Amount, createdAt: clock.Micros(now), updatedAt: clock.Micros(now),
	}
	switch {
	case len(req.PaymentReference) < 4 || len(req.PaymentReference) > 100:
		return v, complaint("paymentReference must have 4 to 100 characters")
	case req.DebitAccountNumber != debitAccount:
		return v, complaint("debitAccountNumber is not an account of this client")
	case req.Amount <= 0:
		return v, complaint("amount must be greater than 0")
	}
	asked, err := s.findEnquiry(ctx, req.NameEnquiryReference)
	switch {
	case errors.Is(err, db.ErrNone):
		return v, complaint("nameEnquiryReference is not known")
	case err != nil:
		return v, err
	case asked.bank != req.BankCode || asked.number != req.AccountNumber:
		return v, complaint("nameEnquiryReference is of another account")
	case came.After(clock.Time(asked.createdAt).Add(enquiryLife)):
		return v, complaint("nameEnquiryReference has expired")
	}
	v.creditName = asked.name
	return v, nil
}

// transferStatus is POST /transfers/status, by session or payment reference;
// virtualStatus is the same for what came into virtual accounts.
func (s *Sandbox) transferStatus(w http.ResponseWriter, r *http.Request) { s.status(w, r, false) }

func (s *Sandbox) virtualStatus(w http.ResponseWriter, r *http.Request) { s.status(w, r, true) }

func (s *Sandbox) status(w http.ResponseWriter, r *http.Request, virtual bool) {
	var req struct {
		SessionID        string `json:"sessionId"`
		PaymentReference string `json:"paymentReference"`
	}
	if !s.decode(w, r, &req) {
		return
	}
	if (req.SessionID == "") == (req.PaymentReference == "") {
		s.decline(w, http.StatusBadRequest, "one of sessionId and paymentReference is required")
		return
	}
	v, err := s.requeryTransfer(r.Context(), req.SessionID, req.PaymentReference, virtual)
	switch {
	case errors.Is(err, db.ErrNone):
		s.decline(w, http.StatusBadRequest, "Unable to locate record")
	case err != nil:
		broken(w)
	default:
		s.nudge()
		answerBank(w, "Transfer status fetched", approved, v.record())
	}
}

// listTransfers is GET /transfers, the newest first.
func (s *Sandbox) listTransfers(w http.ResponseWriter, r *http.Request) {
	p, d, wrong := listed(r)
	direction := r.URL.Query().Get("type")
	if wrong == "" && direction != inwards && direction != outwards {
		wrong = "type must be one of Inwards, Outwards"
	}
	if wrong != "" {
		s.decline(w, http.StatusBadRequest, wrong)
		return
	}
	list, total, err := s.transfers(r.Context(), direction, r.URL.Query().Get("accountId"), d, p)
	if err != nil {
		broken(w)
		return
	}
	rows := make([]any, 0, len(list))
	for _, v := range list {
		rows = append(rows, v.record())
	}
	answerPage(w, "Transfers fetched successfully.", rows, total, p)
}

// What the books' states are in the bank's words.
const approved = "00"

var reasons = map[string]string{
	approved: "Approved or completed successfully",
	"09":     "Request processing in progress",
	"05":     "Do not honour",
}

func (v *transfer) code() string {
	switch v.status {
	case pending:
		return "09"
	case failed:
		return "05"
	default:
		return approved
	}
}

func (v *transfer) reason() string { return reasons[v.code()] }

func (v *transfer) word() string {
	switch {
	case v.reversed:
		return "Reversed"
	case v.status == pending:
		return "Pending"
	case v.status == failed:
		return "Failed"
	default:
		return "Completed"
	}
}

// The bank's price for a transfer to another bank, and the tax on it. Small ones
// are free, so that not every transfer has a charge.
const (
	freeUpTo  = 5_000 * money.Naira
	cheapUpTo = 50_000 * money.Naira
)

func (v *transfer) fees() money.Kobo {
	switch {
	case v.direction != outwards || v.bank == bankCode || v.amount <= freeUpTo:
		return 0
	case v.amount <= cheapUpTo:
		return 10 * money.Naira
	}
	return 25 * money.Naira
}

// vat is 7.5 % of the price.
func (v *transfer) vat() money.Kobo { return v.fees() * 75 / 1000 }

// record is the transfer as it is answered, listed and told.
func (v *transfer) record() map[string]any {
	out := map[string]any{
		"_id": v.id, "queued": false, "limitExceeded": false, "client": ibsClientID, "type": v.direction, "sessionId": v.session,
		"nameEnquiryReference": v.enquiry, "paymentReference": v.reference, "mandateReference": nil, "isReversed": v.reversed,
		"reversalReference": nil, "provider": "NIBSS", "providerChannel": "NIP", "providerChannelCode": "2",
		"destinationInstitutionCode": v.bank, "creditAccountName": v.creditName, "creditAccountNumber": v.creditNumber,
		"creditBankVerificationNumber": nil, "creditKYCLevel": "3", "debitAccountName": v.debitName, "debitAccountNumber": v.debitNumber,
		"debitBankVerificationNumber": nil, "debitKYCLevel": "3", "transactionLocation": "0,0", "narration": v.narration,
		"amount": v.amount, "fees": v.fees(), "vat": v.vat(), "stampDuty": 0, "responseCode": v.code(), "responseMessage": v.reason(),
		"status": v.word(), "isDeleted": false, "createdAt": clock.Text(clock.Time(v.createdAt)),
		"updatedAt": clock.Text(clock.Time(v.updatedAt)), "__v": 0,
	}
	if !v.virtual {
		out["account"] = v.account
		return out
	}
	out["virtualAccount"], out["externalReference"] = v.account, v.external
	out["provider"], out["providerChannel"], out["providerChannelCode"] = "BANK", "TRANSFER", "IBS"
	return out
}
