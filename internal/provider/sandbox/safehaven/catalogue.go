package safehaven

import (
	_ "embed" // embeds the catalogue
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
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

// product is a product of the catalogue. Its price is 0 if the buyer chooses the amount.
type product struct {
	bundle, name, validity string
	price                  money.Kobo
}

// catalogueCSV lists what the bank sells, with one product in each line. It resembles the catalogue
// of a Nigerian seller of airtime and data. As at the real bank, some data bundles have a validity
// and no name. One price has kobo, so that tests include an amount that is not whole naira. A TV
// package with an add-on has a single code that contains a pipe.
//
// The ids depend on the positions of services and categories, so new lines go to the end.
//
//go:embed catalogue.csv
var catalogueCSV string

var (
	catalogue = []service{
		{name: "Airtime", identifier: "AIRTIME", path: "airtime"},
		{name: "Data", identifier: "DATA", path: "data"},
		{name: "Utility", identifier: "UTILITY", path: "utility"},
		{name: "Cable TV", identifier: "CABLETV", path: "cable-tv"},
	}
	categoryByID = readCatalogue()
)

// readCatalogue fills the variable catalogue, and returns its categories by their ids.
func readCatalogue() map[string]category {
	for i := range catalogue {
		catalogue[i].id = fmt.Sprintf("61e0000000000000%08x", i+1)
	}
	for _, row := range books.ReadCSV(catalogueCSV) {
		i := slices.IndexFunc(catalogue, func(s service) bool { return s.identifier == row[0] })
		s := &catalogue[i]
		if n := len(s.categories); n == 0 || s.categories[n-1].identifier != row[1] {
			id := fmt.Sprintf("61e0000000000000%08x", (i+1)<<8+n+1)
			s.categories = append(s.categories, category{id: id, identifier: row[1], name: row[2], service: s})
		}
		if row[3] == "" {
			continue
		}
		c := &s.categories[len(s.categories)-1]
		c.products = append(c.products, product{row[3], row[4], row[5], books.Price(row[6])})
	}
	out := map[string]category{}
	for _, s := range catalogue {
		for _, c := range s.categories {
			out[c.id] = c
		}
	}
	return out
}
