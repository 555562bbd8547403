package safehaven

import (
	"fmt"

	"github.com/kobo-waas/kobo/internal/money"
)

// vendorID is the company from which the simulated bank buys.
const vendorID = "61e0000000000000000000ff"

type service struct {
	id, name, identifier string
	path                 string // under /vas/pay/
	categories           []category
}

type category struct {
	id, name, identifier string
	service              *service
	products             []product
}

// product has a price of 0 if the buyer chooses the amount.
type product struct {
	bundle, name, validity string
	price                  money.Kobo
}

// The catalogue resembles that of a Nigerian shop. Ids follow from the positions
// in these lists, so new lines go to the end. Some data bundles have a validity
// and no name, as at the real bank.
var (
	catalogue    = build()
	categoryByID = index(catalogue)
)

func build() []service {
	list := []service{
		{name: "Airtime", identifier: "AIRTIME", path: "airtime", categories: []category{
			{name: "MTN", identifier: "MTN"},
			{name: "AIRTEL", identifier: "AIRTEL"},
			{name: "GLO", identifier: "GLO"},
			{name: "9MOBILE", identifier: "ETISALAT"},
		}},
		{name: "Data", identifier: "DATA", path: "data", categories: []category{
			{name: "MTN", identifier: "MTN-DATA", products: mtnData},
			{name: "AIRTEL", identifier: "AIRTEL-DATA", products: airtelData},
			{name: "GLO", identifier: "GLO-DATA", products: gloData},
			{name: "9MOBILE", identifier: "ETISALAT-DATA", products: nineMobileData},
		}},
		{name: "Utility", identifier: "UTILITY", path: "utility", categories: []category{
			{name: "Ikeja Electric", identifier: "IKEJA"},
			{name: "Eko Electricity", identifier: "EKO"},
			{name: "Abuja Electricity", identifier: "ABUJA"},
			{name: "Ibadan Electricity", identifier: "IBADAN"},
			{name: "Enugu Electricity", identifier: "ENUGU"},
			{name: "Port Harcourt Electricity", identifier: "PORTHARCOURT"},
			{name: "Kano Electricity", identifier: "KANO"},
			{name: "Kaduna Electric", identifier: "KADUNA"},
			{name: "Jos Electricity", identifier: "JOS"},
			{name: "Benin Electricity", identifier: "BENIN"},
			{name: "Yola Electricity", identifier: "YOLA"},
		}},
		{name: "Cable TV", identifier: "CABLETV", path: "cable-tv", categories: []category{
			{name: "DSTV", identifier: "DSTV", products: dstv},
			{name: "GOTV", identifier: "GOTV", products: gotv},
			{name: "STARTIMES", identifier: "STARTIMES", products: startimes},
		}},
	}
	for i := range list {
		s := &list[i]
		s.id = fmt.Sprintf("61e0000000000000%08x", i+1)
		for j := range s.categories {
			s.categories[j].id = fmt.Sprintf("61e0000000000000%08x", (i+1)<<8+j+1)
			s.categories[j].service = s
		}
	}
	return list
}

func index(list []service) map[string]category {
	out := map[string]category{}
	for _, s := range list {
		for _, c := range s.categories {
			out[c.id] = c
		}
	}
	return out
}

var mtnData = []product{
	{"mtn-100mb-1d", "100MB Daily", "1 day", 100 * money.Naira},
	{"mtn-230mb-1d", "230MB Daily", "1 day", 200 * money.Naira},
	{"mtn-500mb-7d", "500MB Weekly", "7 days", 500 * money.Naira},
	{"mtn-1gb-7d", "1GB Weekly", "7 days", 800 * money.Naira},
	{"mtn-2gb-30d", "2GB Monthly", "30 days", 1500 * money.Naira},
	{"mtn-3-5gb-30d", "", "3.5GB, 30 days", 2500 * money.Naira},
	{"mtn-10gb-30d", "10GB Monthly", "30 days", 4500 * money.Naira},
	{"mtn-36gb-30d", "36GB Monthly", "30 days", 11000 * money.Naira},
	{"mtn-165gb-60d", "165GB Two Months", "60 days", 35000 * money.Naira},
}

var airtelData = []product{
	{"airtel-75mb-1d", "75MB Daily", "1 day", 75 * money.Naira},
	{"airtel-300mb-2d", "300MB", "2 days", 300 * money.Naira},
	{"airtel-1gb-7d", "1GB Weekly", "7 days", 800 * money.Naira},
	{"airtel-2gb-30d", "", "2GB, 30 days", 1500 * money.Naira},
	{"airtel-8gb-30d", "8GB Monthly", "30 days", 3000 * money.Naira},
	{"airtel-18gb-30d", "18GB Monthly", "30 days", 6000 * money.Naira},
}

// One price has kobo, so that tests see amounts that are not whole naira.
var gloData = []product{
	{"glo-50mb-1d", "50MB Daily", "1 day", 50 * money.Naira},
	{"glo-350mb-2d", "350MB", "2 days", 20050},
	{"glo-1-5gb-14d", "", "1.5GB, 14 days", 500 * money.Naira},
	{"glo-2-6gb-30d", "2.6GB Monthly", "30 days", 1000 * money.Naira},
	{"glo-10gb-30d", "10GB Monthly", "30 days", 3000 * money.Naira},
	{"glo-38gb-30d", "38GB Monthly", "30 days", 10000 * money.Naira},
}

var nineMobileData = []product{
	{"9m-100mb-1d", "100MB Daily", "1 day", 100 * money.Naira},
	{"9m-650mb-3d", "", "650MB, 3 days", 500 * money.Naira},
	{"9m-2-3gb-30d", "2.3GB Monthly", "30 days", 1200 * money.Naira},
	{"9m-11gb-30d", "11GB Monthly", "30 days", 4000 * money.Naira},
}

// A bouquet with an add-on is one code with a pipe in it.
var dstv = []product{
	{"dstv-padi", "DStv Padi", "1 month", 4400 * money.Naira},
	{"dstv-yanga", "DStv Yanga", "1 month", 6000 * money.Naira},
	{"dstv-confam", "DStv Confam", "1 month", 11000 * money.Naira},
	{"dstv-compact", "DStv Compact", "1 month", 19000 * money.Naira},
	{"dstv-compact|dstv-french", "DStv Compact + French Touch", "1 month", 26000 * money.Naira},
	{"dstv-premium", "DStv Premium", "1 month", 44500 * money.Naira},
	{"TOP_UP", "Top Up", "", 0},
}

var gotv = []product{
	{"gotv-smallie", "GOtv Smallie", "1 month", 1900 * money.Naira},
	{"gotv-jinja", "GOtv Jinja", "1 month", 3900 * money.Naira},
	{"gotv-jolli", "GOtv Jolli", "1 month", 5800 * money.Naira},
	{"gotv-max", "GOtv Max", "1 month", 8500 * money.Naira},
	{"TOP_UP", "Top Up", "", 0},
}

var startimes = []product{
	{"st-nova-1w", "Nova Weekly", "1 week", 700 * money.Naira},
	{"st-nova-1m", "Nova Monthly", "1 month", 2100 * money.Naira},
	{"st-basic-1m", "Basic Monthly", "1 month", 4000 * money.Naira},
	{"st-smart-1m", "Smart Monthly", "1 month", 5100 * money.Naira},
	{"TOP_UP", "Top Up", "", 0},
}
