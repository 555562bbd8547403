package safehaven

import (
	"net/http"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type virtualRequest struct {
	ValidFor          *int64     `json:"validFor"`
	CallbackURL       string     `json:"callbackUrl"`
	AmountControl     string     `json:"amountControl"`
	Amount            money.Kobo `json:"amount"`
	ExternalReference string     `json:"externalReference"`
	SettlementAccount struct {
		BankCode      string `json:"bankCode"`
		AccountNumber string `json:"accountNumber"`
	} `json:"settlementAccount"`
}

func (v virtualRequest) wrong(defaultCallback string) string {
	switch {
	case v.SettlementAccount.AccountNumber != debitAccount || v.SettlementAccount.BankCode != bankCode:
		return "settlementAccount is not an account of this client"
	case !slices.Contains([]string{"Fixed", "UnderPayment", "OverPayment"}, v.AmountControl):
		return "amountControl must be one of Fixed, UnderPayment, OverPayment"
	case v.Amount <= 0:
		return "amount must be greater than 0"
	case v.seconds() < 60 || v.seconds() > 30*24*3600:
		return "validFor must be 60 to 2592000 seconds"
	case v.CallbackURL != "" && !books.IsLocal(v.CallbackURL):
		return "callbackUrl must be on this machine in the sandbox"
	case v.CallbackURL == "" && defaultCallback == "":
		return "callbackUrl is required"
	}
	return ""
}

// seconds returns the lifetime of the account in seconds. The default is 15 minutes.
func (v virtualRequest) seconds() int64 {
	if v.ValidFor == nil {
		return 900
	}
	return *v.ValidFor
}

// openVirtual handles POST /virtual-accounts.
func (b *Bank) openVirtual(w http.ResponseWriter, r *http.Request, req virtualRequest) {
	if wrong := req.wrong(b.notices.Callback()); wrong != "" {
		b.Decline(w, http.StatusBadRequest, wrong)
		return
	}
	now := b.Clock.Now()
	v := holder{
		kind: "virtual", name: clientName + " CHECKOUT", reference: req.ExternalReference, callback: req.CallbackURL,
		control: req.AmountControl, amount: req.Amount, validFor: req.seconds(),
		expiresAt: clock.Micros(now.Add(time.Duration(req.seconds()) * time.Second)), createdAt: clock.Micros(now),
	}
	v.fingerprint = books.Digest("virtual", v.reference+v.control+v.amount.Decimal())
	err := b.Tx(r.Context(), func(q db.Querier) error {
		if v.reference != "" {
			held, found, err := v.held(r.Context(), q)
			if err != nil || found {
				v = held
				return err
			}
		}
		return v.assignNumber(r.Context(), q, 700_000_000+b.series)
	})
	b.finish(w, err, func() { books.Answer(w, "Virtual account created", v.virtual(now, false)) })
}

// virtual returns the account as the responses about virtual accounts show it.
func (v holder) virtual(now time.Time, paid bool) map[string]any {
	status := "Active"
	switch {
	case paid:
		status = "Completed"
	case now.After(clock.Time(v.expiresAt)):
		status = "Expired"
	}
	at := books.Text(v.createdAt)
	return map[string]any{
		"_id": v.id, "client": ibsClientID, "bankCode": bankCode, "accountNumber": v.number, "accountName": v.name, "currencyCode": "NGN",
		"validFor": v.validFor, "externalReference": v.reference, "amountControl": v.control, "amount": v.amount,
		"expiryDate": books.Text(v.expiresAt), "callbackUrl": v.callback, "status": status, "isDeleted": false,
		"settlementAccount": map[string]any{"bankCode": bankCode, "accountNumber": debitAccount},
		"createdAt":         at, "updatedAt": at, "__v": 0,
	}
}

// showVirtual handles GET /virtual-accounts/{id}.
func (b *Bank) showVirtual(w http.ResponseWriter, r *http.Request) {
	v, err := findHolder(r.Context(), b, r.PathValue("id"))
	if err == nil && v.kind != "virtual" {
		err = db.ErrNone
	}
	isPaid := false
	if err == nil {
		isPaid, err = b.isPaidInto(r.Context(), v.id)
	}
	b.Finish(w, books.OrNo(err, http.StatusNotFound, "Virtual account not found"), func() {
		books.Answer(w, "Virtual account fetched.", v.virtual(b.Clock.Now(), isPaid))
	})
}
