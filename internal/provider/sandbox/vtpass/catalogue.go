package vtpass

import (
	_ "embed" // embeds the vendors
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

// variation is one product of a vendor. Its price is 0 if the buyer chooses the amount.
type variation struct {
	code, name string
	price      money.Kobo
}

// vendorsCSV lists what VTpass sells, with one variation in each line. The prices are a little
// below those of the simulated Safe Haven. The list has one vendor that Safe Haven does not have,
// and one vendor from which Kobo's plug does not buy. Prepaid and postpaid meters are listed as
// variations without a price.
//
//go:embed vendors.csv
var vendorsCSV string

var vendors = readVendors()

func readVendors() (list []vendor) {
	for _, row := range books.ReadCSV(vendorsCSV) {
		if n := len(list); n == 0 || list[n-1].id != row[1] {
			list = append(list, vendor{kind: row[0], id: row[1], name: row[2]})
		}
		if v := &list[len(list)-1]; row[3] != "" {
			v.variations = append(v.variations, variation{row[3], row[4], books.Price(row[5])})
		}
	}
	return list
}

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

// verify handles POST /merchant-verify. As at the real VTpass, a wrong number gets a success code
// with an error in the content.
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
