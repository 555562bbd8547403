package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

type vtpassVendor struct {
	kind       string // airtime, data, tv-subscription or electricity-bill
	id, name   string
	variations []product // bundle, name and price of each
}

// What the pretend VTpass sells: the networks' and the TV companies' own prices
// a little below those of the pretend bank, one vendor that the bank has not,
// and one that our plug does not buy from.
var vtpassVendors = []vtpassVendor{
	{"airtime", "mtn", "MTN Airtime VTU", nil},
	{"airtime", "glo", "GLO Airtime VTU", nil},
	{"airtime", "airtel", "Airtel Airtime VTU", nil},
	{"airtime", "etisalat", "9mobile Airtime VTU", nil},
	{"airtime", "foreign-airtime", "International Airtime", nil},
	{"data", "mtn-data", "MTN Data", []product{
		{"mtn-10mb-100", "N100 100MB - 24 hrs", "", 100 * money.Naira},
		{"mtn-1gb-780", "N780 1GB - 7 days", "", 780 * money.Naira},
		{"mtn-2gb-1480", "N1480 2GB - 30 days", "", 1480 * money.Naira},
	}},
	{"data", "glo-data", "GLO Data", []product{
		{"glo-100", "N100 105MB - 2 days", "", 100 * money.Naira}, {"glo-1000", "N1000 2.6GB - 30 days", "", 1000 * money.Naira},
	}},
	{"tv-subscription", "dstv", "DSTV Subscription", []product{
		{"dstv-padi", "DStv Padi N4,400", "", 4400 * money.Naira},
		{"dstv79", "DStv Compact N19,000", "", 19000 * money.Naira},
		{"com-frenchtouch", "DStv Compact + French Touch N26,000", "", 26000 * money.Naira},
	}},
	{"tv-subscription", "gotv", "Gotv Payment", []product{
		{"gotv-smallie", "GOtv Smallie N1,900", "", 1900 * money.Naira}, {"gotv-max", "GOtv Max N8,500", "", 8500 * money.Naira},
	}},
	{"electricity-bill", "ikeja-electric", "Ikeja Electric Payment - IKEDC", meterKinds},
	{"electricity-bill", "eko-electric", "Eko Electric Payment - EKEDC", meterKinds},
	{"electricity-bill", "aba-electric", "Electricity in Aba - ABEDC", meterKinds},
}

// meterKinds are listed like products, without a price.
var meterKinds = []product{{"prepaid", "Prepaid", "", 0}, {"postpaid", "Postpaid", "", 0}}

func findVendor(serviceID string) (vtpassVendor, bool) {
	i := slices.IndexFunc(vtpassVendors, func(v vtpassVendor) bool { return v.id == serviceID })
	if i < 0 {
		return vtpassVendor{}, false
	}
	return vtpassVendors[i], true
}

// vtpassLists is VTpass's envelope of lists.
func vtpassLists(w http.ResponseWriter, content any) {
	write(w, http.StatusOK, map[string]any{"response_description": "000", "content": content})
}

func vtpassServices(w http.ResponseWriter, _ *http.Request) {
	vtpassLists(w, []map[string]string{
		{"identifier": "airtime", "name": "Airtime Recharge"},
		{"identifier": "data", "name": "Data Services"},
		{"identifier": "tv-subscription", "name": "TV Subscription"},
		{"identifier": "electricity-bill", "name": "Electricity Bill"},
		{"identifier": "education", "name": "Education"},
	})
}

func vtpassCategories(w http.ResponseWriter, r *http.Request) {
	rows := []any{}
	for _, v := range vtpassVendors {
		if v.kind == r.URL.Query().Get("identifier") {
			rows = append(rows, map[string]any{
				"serviceID": v.id, "name": v.name, "minimium_amount": "1", "maximum_amount": "1000000", "convinience_fee": "0 %",
				"product_type": "fix", "image": "https://img.example.test/" + v.id + ".jpg",
			})
		}
	}
	vtpassLists(w, rows)
}

func vtpassVariations(w http.ResponseWriter, r *http.Request) {
	v, known := findVendor(r.URL.Query().Get("serviceID"))
	if !known {
		vtpassRefuses(w, "012", "PRODUCT DOES NOT EXIST")
		return
	}
	rows := []any{}
	for _, p := range v.variations {
		fixed := "Yes"
		if p.price == 0 {
			fixed = "No"
		}
		rows = append(rows, map[string]any{"variation_code": p.bundle, "name": p.name, "variation_amount": p.price.Decimal(), "fixedPrice": fixed})
	}
	vtpassLists(w, map[string]any{"ServiceName": v.name, "serviceID": v.id, "convinience_fee": "N0", "varations": rows})
}

// vtpassVerify is POST /merchant-verify. It answers a wrong number with a yes
// that has an error in it, as the real one does.
func vtpassVerify(w http.ResponseWriter, r *http.Request) {
	var req vtpassRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		vtpassRefuses(w, "011", "INVALID ARGUMENTS")
		return
	}
	v, known := findVendor(req.ServiceID)
	meter := v.kind == "electricity-bill"
	switch {
	case !known || !meter && v.kind != "tv-subscription":
		vtpassRefuses(w, "012", "PRODUCT DOES NOT EXIST")
	case !exists(req.BillersCode) || meter && !strings.EqualFold(req.Type, meterKind(req.BillersCode)):
		vtpassSays(w, http.StatusOK, "000", "000", map[string]any{
			"error": "This number is not correct for this product. Please check and try again", "WrongBillersCode": true,
		})
	case meter:
		vtpassSays(w, http.StatusOK, "000", "000", map[string]any{
			"Customer_Name": customerName, "Address": "12 MARINA LAGOS", "Meter_Number": req.BillersCode, "Customer_Arrears": "",
			"Minimum_Amount": "", "Min_Purchase_Amount": leastVend.Number(), "Can_Vend": "yes", "Business_Unit": "",
			"Customer_Account_Type": "MD", "Meter_Type": meterKind(req.BillersCode), "WrongBillersCode": false,
		})
	default:
		current := v.variations[0]
		vtpassSays(w, http.StatusOK, "000", "000", map[string]any{
			"Customer_Name": customerName, "Status": "ACTIVE", "Due_Date": "2030-02-06T00:00:00", "Customer_Number": req.BillersCode,
			"Customer_Type": strings.ToUpper(v.id), "Current_Bouquet": current.name, "Renewal_Amount": current.price.Decimal(),
		})
	}
}

// sale checks a payment against the catalogue. It returns what is wrong with it
// in code and words, or "".
func (p vtpassRequest) sale() (v vtpassSale, code, complaint string) {
	vendor, known := findVendor(p.ServiceID)
	v = vtpassSale{requestID: p.RequestID, kind: vendor.kind, service: p.ServiceID, variation: p.VariationCode, number: p.BillersCode, amount: p.Amount}
	i := slices.IndexFunc(vendor.variations, func(q product) bool { return q.bundle == p.VariationCode })
	switch {
	case !known || p.ServiceID == "foreign-airtime":
		return v, "012", "PRODUCT DOES NOT EXIST"
	case len(p.Phone) != 11 || !digits(p.Phone) || p.Amount <= 0:
		return v, "011", "INVALID ARGUMENTS"
	case vendor.kind == "airtime":
		v.number = p.Phone
		return v, "", ""
	case i < 0:
		return v, "010", "VARIATION CODE DOES NOT EXIST"
	case !exists(p.BillersCode), (p.Subscription == "change") != (vendor.kind == "tv-subscription"):
		return v, "011", "INVALID ARGUMENTS"
	case vendor.variations[i].price > 0 && p.Amount < vendor.variations[i].price:
		return v, "013", "BELOW MINIMUM AMOUNT ALLOWED"
	}
	if p.VariationCode == "prepaid" {
		v.token = meterToken(p.RequestID)
	}
	return v, "", ""
}

func vtpassProductName(v vtpassSale) string {
	vendor, _ := findVendor(v.service)
	return vendor.name
}
