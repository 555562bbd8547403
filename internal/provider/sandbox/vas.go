package sandbox

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// since is when the catalogue was put together.
const since = "2030-01-01T00:00:00.000Z"

func (s *Sandbox) services(w http.ResponseWriter, _ *http.Request) {
	rows := make([]any, 0, len(catalogue))
	for _, v := range catalogue {
		rows = append(rows, map[string]any{
			"_id": v.id, "name": v.name, "identifier": v.identifier, "description": v.name + " purchases",
			"createdAt": since, "updatedAt": since, "__v": 0,
		})
	}
	answer(w, "Services fetched successfully.", rows)
}

func (s *Sandbox) categories(w http.ResponseWriter, r *http.Request) {
	for _, v := range catalogue {
		if v.id != r.PathValue("id") {
			continue
		}
		rows := make([]any, 0, len(v.categories))
		for _, c := range v.categories {
			rows = append(rows, map[string]any{
				"_id": c.id, "name": c.name, "identifier": c.identifier, "service": v.id, "vendor": vendorID,
				"isFixedAmount": len(c.products) > 0, "description": c.name + " " + v.name,
				"logoUrl":            "https://img.example.test/" + c.identifier + ".png",
				"providerCommission": nil, "createdAt": since, "updatedAt": since, "__v": 0,
			})
		}
		answer(w, "Service categories fetched successfully.", rows)
		return
	}
	refuse(w, http.StatusNotFound, "Service not found")
}

func (s *Sandbox) products(w http.ResponseWriter, r *http.Request) {
	c, ok := categoryByID[r.PathValue("id")]
	if !ok {
		refuse(w, http.StatusNotFound, "Service category not found")
		return
	}
	rows := make([]any, 0, len(c.products))
	for _, p := range c.products {
		row := map[string]any{"bundleCode": p.bundle, "amount": nil, "isAmountFixed": p.price > 0}
		if p.price > 0 {
			row["amount"] = p.price
		}
		if p.name != "" {
			row["name"] = p.name
		}
		if p.validity != "" && c.service.identifier == "CABLETV" {
			row["duration"] = p.validity
		} else if p.validity != "" {
			row["validity"] = p.validity
		}
		rows = append(rows, row)
	}
	answer(w, "Products fetched successfully.", rows)
}

type payRequest struct {
	ServiceCategoryID  string     `json:"serviceCategoryId"`
	BundleCode         string     `json:"bundleCode"`
	Amount             money.Kobo `json:"amount"`
	Channel            string     `json:"channel"`
	DebitAccountNumber string     `json:"debitAccountNumber"`
	PhoneNumber        string     `json:"phoneNumber"`
	CardNumber         string     `json:"cardNumber"`
	MeterNumber        string     `json:"meterNumber"`
	VendType           string     `json:"vendType"`
	ExternalReference  string     `json:"externalReference"`
}

var thanks = map[string]string{
	"airtime":  "Airtime has been purchased successfully.",
	"data":     "Data Bundle purchased successfully.",
	"cable-tv": "Cable TV purchased successfully.",
	"utility":  "Utility Package purchased successfully.",
}

// pay is POST /vas/pay/{kind}. The books are written before any answer, so what
// was answered, or lost on the way, is true after a crash too.
func (s *Sandbox) pay(w http.ResponseWriter, r *http.Request) {
	var req payRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, requestLimit)).Decode(&req); err != nil {
		s.decline(w, http.StatusBadRequest, "The request body cannot be read")
		return
	}
	v, complaint := req.sale(r.PathValue("kind"))
	if complaint != "" {
		s.decline(w, http.StatusBadRequest, complaint)
		return
	}
	if v.tell(v.number) {
		err := s.accept(r.Context(), v)
		switch {
		case errors.Is(err, errRepeated):
			refuse(w, http.StatusConflict, "Duplicate externalReference")
			return
		case errors.Is(err, errPoor):
			s.decline(w, http.StatusBadRequest, "Insufficient funds")
			return
		case err != nil:
			broken(w)
			return
		}
	}
	s.reply(w, r, v.story, "The vendor refused this purchase", func() { answer(w, v.message(), v.receipt()) })
}

func (v *sale) message() string {
	if v.status == pending {
		return "The purchase is being processed."
	}
	return thanks[v.kind]
}

// receipt is the sale as the answer to a payment shows it.
func (v *sale) receipt() map[string]any {
	out := map[string]any{
		"clientId": ibsClientID, "serviceCategoryId": v.category, "reference": saleNumber(v.reference),
		"status": v.status, "amount": v.amount, "id": v.id,
	}
	if v.kind == "cable-tv" {
		out["receiver"] = map[string]any{
			"name": "ADA TESTER", "number": v.number, "customerNumber": v.number, "distribution": nil, "vendType": nil,
		}
	}
	if v.token != "" && v.status == successful {
		out["utilityToken"] = v.token
	}
	return out
}

// transaction is GET /vas/transaction/{reference}.
func (s *Sandbox) transaction(w http.ResponseWriter, r *http.Request) {
	v, err := s.requery(r.Context(), r.PathValue("reference"))
	switch {
	case errors.Is(err, db.ErrNone):
		s.decline(w, http.StatusNotFound, "Transaction not found")
	case err != nil:
		broken(w)
	default:
		answer(w, "Transaction fetched successfully.", v.record())
	}
}
