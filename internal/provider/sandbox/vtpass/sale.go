package vtpass

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type request struct {
	RequestID     string     `json:"request_id"`
	ServiceID     string     `json:"serviceID"`
	BillersCode   string     `json:"billersCode"`
	VariationCode string     `json:"variation_code"`
	Amount        money.Kobo `json:"amount"`
	Phone         string     `json:"phone"`
	Subscription  string     `json:"subscription_type"`
	Type          string     `json:"type"`
}

// sale checks a payment against the catalogue. If the payment is wrong, it returns VTpass's code
// and the reason; otherwise both are "".
func (r request) sale() (v sale, code, wrong string) {
	sold, known := findVendor(r.ServiceID)
	v = sale{
		requestID: r.RequestID, kind: sold.kind, service: r.ServiceID, variation: r.VariationCode, number: r.BillersCode, amount: r.Amount,
	}
	i := slices.IndexFunc(sold.variations, func(q variation) bool { return q.code == r.VariationCode })
	switch {
	case !known || r.ServiceID == "foreign-airtime":
		return v, "012", "PRODUCT DOES NOT EXIST"
	case len(r.Phone) != 11 || !books.IsDigits(r.Phone) || r.Amount <= 0:
		return v, "011", "INVALID ARGUMENTS"
	case sold.kind == "airtime":
		v.number = r.Phone
		return v, "", ""
	case i < 0:
		return v, "010", "VARIATION CODE DOES NOT EXIST"
	case !books.Exists(r.BillersCode), (r.Subscription == "change") != (sold.kind == "tv-subscription"):
		return v, "011", "INVALID ARGUMENTS"
	case sold.variations[i].price > 0 && r.Amount < sold.variations[i].price:
		return v, "013", "BELOW MINIMUM AMOUNT ALLOWED"
	}
	if r.VariationCode == "prepaid" {
		v.token = books.MeterToken(r.RequestID)
	}
	return v, "", ""
}

// pay handles POST /pay. VTpass writes its books before it responds.
func (b *Biller) pay(w http.ResponseWriter, r *http.Request, req request) {
	// The request_id begins with a timestamp from the client's clock. But the timestamp of a UUID
	// is in real time, because no control moves the machine's clock. So both times are accepted.
	if !isStamped(req.RequestID, b.Clock.Now()) && !isStamped(req.RequestID, time.Now()) {
		refuse(w, "085", "IMPROPER REQUEST ID: DOES NOT CONTAIN PROPER DATE")
		return
	}
	v, code, wrong := req.sale()
	off, err := b.IsOff(r.Context(), sellingOff)
	if off {
		code, wrong = "034", "SERVICE SUSPENDED"
	}
	if wrong != "" {
		refuse(w, code, wrong)
		return
	}
	if err == nil && v.Begin(v.number) {
		err = b.accept(r.Context(), v)
	}
	switch {
	case errors.Is(err, books.ErrRepeated):
		refuse(w, "014", "REQUEST ID ALREADY EXIST")
	case errors.Is(err, books.ErrPoor):
		refuse(w, "018", "LOW WALLET BALANCE")
	case err != nil || v.Ending == books.DoneFault || v.Ending == books.UndoneFault:
		fail(w)
	case v.Ending == books.DoneAnswerLost || v.Ending == books.UndoneAnswerLost:
		b.Lose(w, r)
	default:
		b.show(w, r, v)
	}
}

// requery handles POST /requery.
func (b *Biller) requery(w http.ResponseWriter, r *http.Request, req request) {
	if req.RequestID == "" {
		refuseArguments(w)
		return
	}
	v, err := b.ask(r.Context(), req.RequestID)
	err = b.Deny(r.Context(), clientReference(req.RequestID), err)
	switch {
	case errors.Is(err, db.ErrNone):
		refuse(w, "015", "INVALID REQUEST ID")
	case err != nil:
		fail(w)
	default:
		b.show(w, r, v)
	}
}

// isStamped reports whether a request_id begins with a date and time in Lagos that is less than a
// day from now.
func isStamped(requestID string, now time.Time) bool {
	if len(requestID) < 12 {
		return false
	}
	at, err := time.ParseInLocation("200601021504", requestID[:12], clock.Lagos)
	return err == nil && now.Sub(at).Abs() < 24*time.Hour
}

// show sends a sale as the response to a payment or to a requery.
func (b *Biller) show(w http.ResponseWriter, r *http.Request, v sale) {
	m, err := b.manners(r.Context())
	if err != nil {
		fail(w)
		return
	}
	books.Write(w, http.StatusOK, m.applied(v).body())
}

// body returns a sale as the responses and the callbacks show it.
func (v sale) body() map[string]any {
	code, description, status := "000", "TRANSACTION SUCCESSFUL", "delivered"
	switch {
	case v.Status == books.Pending:
		code, description, status = "099", "TRANSACTION IS PROCESSING", "pending"
	case v.Status == books.Failed && v.Polls > 0:
		code, description, status = "040", "TRANSACTION REVERSAL TO WALLET", "reversed"
	case v.Status == books.Failed:
		code, description, status = "016", "TRANSACTION FAILED", "failed"
	}
	sold, _ := findVendor(v.service)
	body := map[string]any{
		"code": code, "response_description": description, "requestId": v.requestID, "amount": v.amount.Decimal(),
		"purchased_code": "", "content": map[string]any{"transactions": map[string]any{
			"status": status, "product_name": sold.name, "unique_element": v.number, "unit_price": v.amount, "quantity": 1,
			"service_verification": nil, "channel": "api", "commission": 0, "total_amount": v.amount, "discount": nil,
			"type": v.kind, "email": "us@example.test", "phone": "08000000000", "name": nil, "convinience_fee": 0,
			"amount": v.amount, "platform": "api", "method": "api", "transactionId": books.Digest("vtpass", v.requestID)[:20],
		}},
	}
	switch {
	case v.token == "" || status != "delivered":
	case v.service == "eko-electric":
		v.eko(body)
	default:
		body["token"], body["purchased_code"] = v.token, "Token : "+v.token
	}
	return body
}

// eko adds the codes of the power company of Eko to a response. This company gives a bonus token and
// writes both tokens into purchased_code. A meter whose number begins with 47 changes its key.
func (v sale) eko(body map[string]any) {
	bonus := books.MeterToken(v.requestID + "bonus")
	body["mainToken"], body["bonusToken"], body["mainTokenUnits"] = v.token, bonus, "12.5"
	body["purchased_code"] = "Token: " + v.token + " Bonus Token: " + bonus
	body["kct1"], body["kct2"] = "N/A", "N/A"
	if strings.HasPrefix(v.number, "47") {
		body["kct1"], body["kct2"] = books.MeterToken(v.requestID+"kct1"), books.MeterToken(v.requestID+"kct2")
	}
}

// clientReference returns the client's reference of a sale. Kobo writes its reference after the
// timestamp: a short reference unchanged, and a UUID without dashes.
func clientReference(requestID string) string {
	tail := requestID[min(len(requestID), 12):]
	switch len(tail) {
	case 20:
		return tail
	case 32:
	default:
		return requestID
	}
	return strings.Join([]string{tail[:8], tail[8:12], tail[12:16], tail[16:20], tail[20:]}, "-")
}
