package safehaven

import (
	"errors"
	"math"
	"net/http"
	"slices"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// since is the creation date of every entry of the catalogue.
const since = "2030-01-01T00:00:00.000Z"

// mostVend is the highest amount of one purchase of power for a meter.
const mostVend = 500_000 * money.Naira

func (b *Bank) listServices(w http.ResponseWriter, _ *http.Request) {
	rows := make([]any, 0, len(catalogue))
	for _, v := range catalogue {
		rows = append(rows, map[string]any{
			"_id": v.id, "name": v.name, "identifier": v.identifier, "description": v.name + " purchases",
			"createdAt": since, "updatedAt": since, "__v": 0,
		})
	}
	books.Answer(w, "Services fetched successfully.", rows)
}

func (b *Bank) listCategories(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(catalogue, func(v service) bool { return v.id == r.PathValue("id") })
	if i < 0 {
		books.Refuse(w, http.StatusNotFound, "Service not found")
		return
	}
	v := catalogue[i]
	rows := make([]any, 0, len(v.categories))
	for _, c := range v.categories {
		rows = append(rows, map[string]any{
			"_id": c.id, "name": c.name, "identifier": c.identifier, "service": v.id, "vendor": vendorID,
			"isFixedAmount": len(c.products) > 0, "description": c.name + " " + v.name,
			"logoUrl":            "https://img.example.test/" + c.identifier + ".png",
			"providerCommission": nil, "createdAt": since, "updatedAt": since, "__v": 0,
		})
	}
	books.Answer(w, "Service categories fetched successfully.", rows)
}

func (b *Bank) listProducts(w http.ResponseWriter, r *http.Request) {
	c, ok := categoryByID[r.PathValue("id")]
	if !ok {
		books.Refuse(w, http.StatusNotFound, "Service category not found")
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
	books.Answer(w, "Products fetched successfully.", rows)
}

type verifyRequest struct {
	ServiceCategoryID string `json:"serviceCategoryId"`
	EntityNumber      string `json:"entityNumber"`
}

// verify handles POST /vas/verify, which returns the owner of a smartcard or a meter.
func (b *Bank) verify(w http.ResponseWriter, r *http.Request, req verifyRequest) {
	c, known := categoryByID[req.ServiceCategoryID]
	session := books.Digest("verify", req.EntityNumber)[:24]
	switch {
	case !known || c.service.path != "cable-tv" && c.service.path != "utility":
		b.Decline(w, http.StatusBadRequest, "serviceCategoryId is not a category with smartcards or meters")
	case !books.Exists(req.EntityNumber):
		b.Decline(w, http.StatusBadRequest, "There is no such smartcard or meter")
	case c.service.path == "cable-tv":
		books.Write(w, http.StatusOK, map[string]any{
			"statusCode": http.StatusOK, "message": "Cable TV number verified successfully.",
			"sessionId": session, "data": map[string]any{"name": books.CustomerName},
		})
	default:
		books.Answer(w, "Meter number verified successfully.", map[string]any{
			"discoCode": c.identifier, "vendType": books.MeterKind(req.EntityNumber), "meterNo": req.EntityNumber,
			"minVendAmount": books.LeastVend, "maxVendAmount": mostVend.Number(), "outstanding": 0, "debtRepayment": 0,
			"name": books.CustomerName, "address": "12 Marina, Lagos", "orderId": session,
		})
	}
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

// kinds lists the kinds of purchases. Each has the message for a successful purchase, and the
// permitted numbers of digits of the recipient's number.
var kinds = map[string]struct {
	thanks, rule string
	least, most  int // number of digits
}{
	"airtime":  {"Airtime has been purchased successfully.", "phoneNumber must have 11 digits", 11, 11},
	"data":     {"Data Bundle purchased successfully.", "phoneNumber must have 11 digits", 11, 11},
	"cable-tv": {"Cable TV purchased successfully.", "cardNumber must have at least 8 digits", 8, math.MaxInt},
	"utility":  {"Utility Package purchased successfully.", "meterNumber must have at least 8 digits", 8, math.MaxInt},
}

// sale checks a payment against the catalogue and the rules of its kind. If the payment is wrong,
// it also returns the reason; otherwise the reason is "".
func (p payRequest) sale(kind string) (sale, string) {
	c, known := categoryByID[p.ServiceCategoryID]
	v := sale{
		reference: p.ExternalReference, id: books.Digest("id", p.ExternalReference)[:24], kind: kind,
		category: p.ServiceCategoryID, amount: p.Amount,
	}
	switch {
	case kinds[kind].thanks == "":
		return v, "There is no such kind of purchase"
	case len(p.ExternalReference) < 4 || len(p.ExternalReference) > 100:
		return v, "externalReference must have 4 to 100 characters"
	case p.DebitAccountNumber != debitAccount:
		return v, "debitAccountNumber is not an account of this client"
	case !slices.Contains([]string{"WEB", "POS", "ATM"}, p.Channel):
		return v, "channel must be one of WEB, POS, ATM"
	case !known || c.service.path != kind:
		return v, "serviceCategoryId is not a category of this service"
	case p.Amount <= 0:
		return v, "amount must be greater than 0"
	}
	if wrong := p.receiver(&v); wrong != "" {
		return v, wrong
	}
	return v, p.bundle(&v, c)
}

// receiver reads and checks the number that the purchase is for. It returns the reason if the
// number is wrong, or "".
func (p payRequest) receiver(v *sale) string {
	k := kinds[v.kind]
	v.number = map[string]string{"cable-tv": p.CardNumber, "utility": p.MeterNumber}[v.kind]
	if v.kind == "airtime" || v.kind == "data" {
		v.number = p.PhoneNumber
	}
	switch {
	case len(v.number) < k.least || len(v.number) > k.most || !books.IsDigits(v.number):
		return k.rule
	case v.kind == "utility" && p.VendType == "PREPAID":
		v.token = books.MeterToken(v.reference)
	case v.kind == "utility" && p.VendType != "POSTPAID":
		return "vendType must be one of PREPAID, POSTPAID"
	}
	return ""
}

// bundle reads and checks the product. Data and cable TV have bundles with prices. Airtime and
// power accept any amount.
func (p payRequest) bundle(v *sale, c category) string {
	if v.kind == "airtime" || v.kind == "utility" {
		v.productName = c.name
		return ""
	}
	i := slices.IndexFunc(c.products, func(q product) bool { return q.bundle == p.BundleCode })
	if i < 0 {
		return "bundleCode is not a product of this category"
	}
	q := c.products[i]
	if q.price > 0 && q.price != v.amount {
		return "amount is not the price of this product"
	}
	v.product, v.productName = q.bundle, q.name
	if q.name == "" {
		v.productName = q.validity
	}
	return ""
}

// pay handles POST /vas/pay/{kind}. The bank writes its books before it responds. So the books are
// correct even after a crash or a lost response.
func (b *Bank) pay(w http.ResponseWriter, r *http.Request, req payRequest) {
	v, wrong := req.sale(r.PathValue("kind"))
	mode, err := b.Setting(r.Context(), vasReference)
	if mode == refused {
		wrong = "property externalReference should not exist"
	}
	if wrong != "" {
		b.Decline(w, http.StatusBadRequest, wrong)
		return
	}
	off, failed := b.IsOff(r.Context(), vasOff)
	if off {
		books.Write(w, http.StatusOK, map[string]any{"statusCode": http.StatusBadRequest, "responseCode": "58", "message": "This service is switched off"})
		return
	}
	err = errors.Join(err, failed)
	if err == nil && v.Begin(v.number) {
		err = b.acceptSale(r.Context(), v, mode)
	}
	if errors.Is(err, books.ErrRepeated) {
		b.repeated(w, r, v.reference)
		return
	}
	b.finish(w, err, func() {
		b.Reply(w, r, v.Story, "The vendor refused this purchase", func() { books.Answer(w, v.message(), v.receipt()) })
	})
}

func (v *sale) line(mode, kind string, amount money.Kobo) line {
	payment := "dbt-" + v.id
	if kind == "reversal" {
		payment = "rev-" + v.id
	}
	narration := "VAS " + v.kind
	if mode != ignored {
		narration += " " + v.reference
	}
	return line{reference: v.reference, kind: kind, payment: payment, narration: narration, amount: amount}
}

// ownReference returns the bank's reference of a sale, which never changes.
func (v *sale) ownReference() string { return books.Digest("reference", v.reference)[:32] }

func (v *sale) message() string {
	if v.Status == books.Pending {
		return "The purchase is being processed."
	}
	return kinds[v.kind].thanks
}

// receipt returns the sale as the response to a payment shows it.
func (v *sale) receipt() map[string]any {
	out := map[string]any{
		"clientId": ibsClientID, "serviceCategoryId": v.category, "reference": v.ownReference(),
		"status": v.Status, "amount": v.amount, "id": v.id,
	}
	if v.kind == "cable-tv" {
		out["receiver"] = map[string]any{
			"name": books.CustomerName, "number": v.number, "customerNumber": v.number, "distribution": nil, "vendType": nil,
		}
	}
	if v.token != "" && v.Status == books.Successful {
		out["utilityToken"] = v.token
	}
	return out
}

// showSale handles GET /vas/transaction/{reference}. The reference is the bank's id or the client's
// reference.
func (b *Bank) showSale(w http.ResponseWriter, r *http.Request) {
	mode, err := b.Setting(r.Context(), vasReference)
	if mode == idsOnly && len(r.PathValue("reference")) != idLength {
		b.Decline(w, http.StatusBadRequest, "id must be a mongodb id")
		return
	}
	var v sale
	if err == nil {
		v, err = b.askSale(r.Context(), r.PathValue("reference"), mode)
	}
	if searchable(mode) {
		err = b.Deny(r.Context(), r.PathValue("reference"), err)
	}
	b.Finish(w, books.OrNo(err, http.StatusNotFound, "Transaction not found"), func() {
		record := v.record()
		if !searchable(mode) {
			delete(record, "externalReference")
		}
		books.Answer(w, "Transaction fetched successfully.", record)
	})
}

// record returns the sale as GET /vas/transaction shows it.
func (v *sale) record() map[string]any {
	var reversal any
	if v.Status == books.Failed && v.Polls > 0 {
		reversal = "rev-" + v.id
	}
	c := categoryByID[v.category]
	out := map[string]any{
		"_id":                      v.id,
		"serviceCategoryId":        map[string]any{"_id": c.id, "name": c.name},
		"serviceId":                map[string]any{"_id": c.service.id, "name": c.service.name},
		"productName":              v.productName,
		"reference":                v.ownReference(),
		"externalReference":        v.reference,
		"internalReference":        "int-" + v.id,
		"debitPaymentReference":    "dbt-" + v.id,
		"reversalPaymentReference": reversal,
		"transactionId":            "vend-" + v.id,
		"transactionStatus":        v.Status,
		"paymentStatus":            "successful",
		"receiverNumber":           v.number,
		"vasType":                  c.service.identifier,
		"channel":                  "WEB",
		"vendor":                   vendorID,
		"transactionFee":           0,
		"debitedAmount":            v.amount,
		"transactionAmount":        v.amount,
		"createdAt":                books.Text(v.createdAt),
		"updatedAt":                books.Text(v.updatedAt),
	}
	if v.token != "" && v.Status == books.Successful {
		out["utilityToken"] = v.token
	}
	return out
}
