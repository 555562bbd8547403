package sandbox

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
)

// The second pretend provider: VTpass, below a path of its own. Its keys are no
// secrets.
const (
	vtpassPath   = "/vtpass/api"
	vtpassAPIKey = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	vtpassPublic = "PK_0a1b2c3d4e5f6071"
	vtpassSecret = "SK_f9e8d7c6b5a49382"
)

// VTpass is the configuration with which the VTpass plug is our client. The
// deadlines are for the caller to set.
func (s *Sandbox) VTpass(baseURL string) vtpass.Config {
	return vtpass.Config{
		BaseURL: baseURL + vtpassPath, APIKey: vtpassAPIKey, PublicKey: vtpassPublic, SecretKey: vtpassSecret, Phone: "08000000000",
	}
}

func (s *Sandbox) vtpass() http.Handler {
	mux := http.NewServeMux()
	reading := func(h http.HandlerFunc) http.HandlerFunc { return vtpassKnows("public-key", vtpassPublic, h) }
	writing := func(h http.HandlerFunc) http.HandlerFunc { return vtpassKnows("secret-key", vtpassSecret, h) }
	mux.HandleFunc("GET "+vtpassPath+"/service-categories", reading(vtpassServices))
	mux.HandleFunc("GET "+vtpassPath+"/services", reading(vtpassCategories))
	mux.HandleFunc("GET "+vtpassPath+"/service-variations", reading(vtpassVariations))
	mux.HandleFunc("POST "+vtpassPath+"/merchant-verify", writing(vtpassVerify))
	mux.HandleFunc("POST "+vtpassPath+"/pay", writing(s.orLate(s.vtpassPay)))
	mux.HandleFunc("POST "+vtpassPath+"/requery", writing(s.vtpassRequery))
	return mux
}

// vtpassKnows lets in who brings our two keys.
func vtpassKnows(header, value string, next http.HandlerFunc) http.HandlerFunc {
	same := func(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
	return func(w http.ResponseWriter, r *http.Request) {
		if !same(r.Header.Get("api-key"), vtpassAPIKey) || !same(r.Header.Get(header), value) {
			vtpassSays(w, http.StatusUnauthorized, "087", "INVALID CREDENTIALS", map[string]any{"errors": "Invalid credentials"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, requestLimit)
		next(w, r)
	}
}

// vtpassSays is VTpass's envelope of everything but lists.
func vtpassSays(w http.ResponseWriter, status int, code, description string, content any) {
	write(w, status, map[string]any{"code": code, "response_description": description, "content": content})
}

func vtpassRefuses(w http.ResponseWriter, code, description string) {
	vtpassSays(w, http.StatusOK, code, description, map[string]any{"errors": description})
}

type vtpassRequest struct {
	RequestID     string     `json:"request_id"`
	ServiceID     string     `json:"serviceID"`
	BillersCode   string     `json:"billersCode"`
	VariationCode string     `json:"variation_code"`
	Amount        money.Kobo `json:"amount"`
	Phone         string     `json:"phone"`
	Subscription  string     `json:"subscription_type"`
	Type          string     `json:"type"`
}

// vtpassPay is POST /pay. The books are written before any answer.
func (s *Sandbox) vtpassPay(w http.ResponseWriter, r *http.Request) {
	var req vtpassRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		vtpassRefuses(w, "011", "INVALID ARGUMENTS")
		return
	}
	// The time is the client's. Its UUIDs carry the machine's, which nobody moves.
	if !stamped(req.RequestID, s.clock.Now()) && !stamped(req.RequestID, time.Now()) {
		vtpassRefuses(w, "085", "IMPROPER REQUEST ID: DOES NOT CONTAIN PROPER DATE")
		return
	}
	v, code, complaint := req.sale()
	if complaint != "" {
		vtpassRefuses(w, code, complaint)
		return
	}
	if v.tell(v.number) {
		switch err := s.vtpassAccept(r.Context(), v); {
		case errors.Is(err, errRepeated):
			vtpassRefuses(w, "014", "REQUEST ID ALREADY EXIST")
			return
		case errors.Is(err, errPoor):
			vtpassRefuses(w, "018", "LOW WALLET BALANCE")
			return
		case err != nil:
			vtpassFails(w)
			return
		}
	}
	switch v.ending {
	case doneAnswerLost, undoneAnswerLost:
		s.lose(w, r)
	case doneFault, undoneFault:
		vtpassFails(w)
	default:
		v.show(w)
	}
}

func vtpassFails(w http.ResponseWriter) {
	write(w, http.StatusInternalServerError, map[string]any{"message": "Server Error"})
}

// vtpassRequery is POST /requery.
func (s *Sandbox) vtpassRequery(w http.ResponseWriter, r *http.Request) {
	var req vtpassRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.RequestID == "" {
		vtpassRefuses(w, "011", "INVALID ARGUMENTS")
		return
	}
	switch v, err := s.vtpassAsk(r.Context(), req.RequestID); {
	case errors.Is(err, db.ErrNone):
		vtpassRefuses(w, "015", "INVALID REQUEST ID")
	case err != nil:
		vtpassFails(w)
	default:
		v.show(w)
	}
}

// stamped tells whether an id begins with the date and time in Lagos, today's
// within a day.
func stamped(requestID string, now time.Time) bool {
	if len(requestID) < 12 {
		return false
	}
	at, err := time.ParseInLocation("200601021504", requestID[:12], clock.Lagos)
	return err == nil && now.Sub(at).Abs() < 24*time.Hour
}

// show is the sale as the answer to a payment and to a requery shows it.
func (v vtpassSale) show(w http.ResponseWriter) {
	code, description, status := "000", "TRANSACTION SUCCESSFUL", "delivered"
	switch {
	case v.status == pending:
		code, description, status = "099", "TRANSACTION IS PROCESSING", "pending"
	case v.status == failed && v.polls > 0:
		code, description, status = "040", "TRANSACTION REVERSAL TO WALLET", "reversed"
	case v.status == failed:
		code, description, status = "016", "TRANSACTION FAILED", "failed"
	}
	body := map[string]any{
		"code": code, "response_description": description, "requestId": v.requestID, "amount": v.amount.Decimal(),
		"purchased_code": "", "content": map[string]any{"transactions": map[string]any{
			"status": status, "product_name": vtpassProductName(v), "unique_element": v.number, "unit_price": v.amount, "quantity": 1,
			"service_verification": nil, "channel": "api", "commission": 0, "total_amount": v.amount, "discount": nil,
			"type": v.kind, "email": "us@example.test", "phone": "08000000000", "name": nil, "convinience_fee": 0,
			"amount": v.amount, "platform": "api", "method": "api", "transactionId": digest("vtpass", v.requestID)[:20],
		}},
	}
	if v.token != "" && status == "delivered" {
		body["token"], body["purchased_code"] = v.token, "Token : "+v.token
	}
	write(w, http.StatusOK, body)
}

// clientReference is what the client calls a sale: after the stamp there is
// whatever it likes, and ours writes its own reference there, a UUID without dashes.
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
