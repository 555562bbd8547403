package vtpass

import (
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type vendor struct {
	kind       string // airtime, data, tv-subscription or electricity-bill
	id, name   string
	variations []variation
}

// variation has a price of 0 if the buyer chooses the amount.
type variation struct {
	code, name string
	price      money.Kobo
}

// The prices are a little below those of the simulated Safe Haven. Safe Haven does
// not have one of the vendors, and Kobo's plug does not buy from another.
var vendors = []vendor{
	{"airtime", "mtn", "MTN Airtime VTU", nil},
	{"airtime", "glo", "GLO Airtime VTU", nil},
	{"airtime", "airtel", "Airtel Airtime VTU", nil},
	{"airtime", "etisalat", "9mobile Airtime VTU", nil},
	{"airtime", "foreign-airtime", "International Airtime", nil},
	{"data", "mtn-data", "MTN Data", []variation{
		{"mtn-10mb-100", "N100 100MB - 24 hrs", 100 * money.Naira},
		{"mtn-1gb-780", "N780 1GB - 7 days", 780 * money.Naira},
		{"mtn-2gb-1480", "N1480 2GB - 30 days", 1480 * money.Naira},
	}},
	{"data", "glo-data", "GLO Data", []variation{
		{"glo-100", "N100 105MB - 2 days", 100 * money.Naira}, {"glo-1000", "N1000 2.6GB - 30 days", 1000 * money.Naira},
	}},
	{"tv-subscription", "dstv", "DSTV Subscription", []variation{
		{"dstv-padi", "DStv Padi N4,400", 4400 * money.Naira},
		{"dstv79", "DStv Compact N19,000", 19000 * money.Naira},
		{"com-frenchtouch", "DStv Compact + French Touch N26,000", 26000 * money.Naira},
	}},
	{"tv-subscription", "gotv", "Gotv Payment", []variation{
		{"gotv-smallie", "GOtv Smallie N1,900", 1900 * money.Naira}, {"gotv-max", "GOtv Max N8,500", 8500 * money.Naira},
	}},
	{"electricity-bill", "ikeja-electric", "Ikeja Electric Payment - IKEDC", meterKinds},
	{"electricity-bill", "eko-electric", "Eko Electric Payment - EKEDC", meterKinds},
	{"electricity-bill", "aba-electric", "Electricity in Aba - ABEDC", meterKinds},
}

// The kinds of meters are listed as variations without a price.
var meterKinds = []variation{{"prepaid", "Prepaid", 0}, {"postpaid", "Postpaid", 0}}

func findVendor(serviceID string) (vendor, bool) {
	i := slices.IndexFunc(vendors, func(v vendor) bool { return v.id == serviceID })
	if i < 0 {
		return vendor{}, false
	}
	return vendors[i], true
}

func listServices(w http.ResponseWriter, _ *http.Request) {
	answerList(w, []map[string]string{
		{"identifier": "airtime", "name": "Airtime Recharge"},
		{"identifier": "data", "name": "Data Services"},
		{"identifier": "tv-subscription", "name": "TV Subscription"},
		{"identifier": "electricity-bill", "name": "Electricity Bill"},
		{"identifier": "education", "name": "Education"},
	})
}

func listCategories(w http.ResponseWriter, r *http.Request) {
	rows := []any{}
	for _, v := range vendors {
		if v.kind == r.URL.Query().Get("identifier") {
			rows = append(rows, map[string]any{
				"serviceID": v.id, "name": v.name, "minimium_amount": "1", "maximum_amount": "1000000", "convinience_fee": "0 %",
				"product_type": "fix", "image": "https://img.example.test/" + v.id + ".jpg",
			})
		}
	}
	answerList(w, rows)
}

func listVariations(w http.ResponseWriter, r *http.Request) {
	v, known := findVendor(r.URL.Query().Get("serviceID"))
	if !known {
		refuse(w, "012", "PRODUCT DOES NOT EXIST")
		return
	}
	rows := []any{}
	for _, p := range v.variations {
		fixed := "Yes"
		if p.price == 0 {
			fixed = "No"
		}
		rows = append(rows, map[string]any{"variation_code": p.code, "name": p.name, "variation_amount": p.price.Decimal(), "fixedPrice": fixed})
	}
	answerList(w, map[string]any{"ServiceName": v.name, "serviceID": v.id, "convinience_fee": "N0", "varations": rows})
}

// verify is POST /merchant-verify. A wrong number gets a success code with an
// error in the content, as at the real VTpass.
func verify(w http.ResponseWriter, _ *http.Request, req request) {
	v, known := findVendor(req.ServiceID)
	meter := v.kind == "electricity-bill"
	switch {
	case !known || !meter && v.kind != "tv-subscription":
		refuse(w, "012", "PRODUCT DOES NOT EXIST")
	case !books.Exists(req.BillersCode) || meter && !strings.EqualFold(req.Type, books.MeterKind(req.BillersCode)):
		answer(w, http.StatusOK, "000", "000", map[string]any{
			"error": "This number is not correct for this product. Please check and try again", "WrongBillersCode": true,
		})
	case meter:
		answer(w, http.StatusOK, "000", "000", map[string]any{
			"Customer_Name": books.CustomerName, "Address": "12 MARINA LAGOS", "Meter_Number": req.BillersCode, "Customer_Arrears": "",
			"Minimum_Amount": "", "Min_Purchase_Amount": books.LeastVend.Number(), "Can_Vend": "yes", "Business_Unit": "",
			"Customer_Account_Type": "MD", "Meter_Type": books.MeterKind(req.BillersCode), "WrongBillersCode": false,
		})
	default:
		current := v.variations[0]
		answer(w, http.StatusOK, "000", "000", map[string]any{
			"Customer_Name": books.CustomerName, "Status": "ACTIVE", "Due_Date": "2030-02-06T00:00:00", "Customer_Number": req.BillersCode,
			"Customer_Type": strings.ToUpper(v.id), "Current_Bouquet": current.name, "Renewal_Amount": current.price.Decimal(),
		})
	}
}
