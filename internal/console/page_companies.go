package console

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/operator"
)

func (c *console) companyRoutes() map[string]route {
	const one = "/console/companies/{reference}"
	after := []string{"after"}
	return map[string]route{
		"GET /console/companies":                 {show: showCompanies, query: []string{"kybStatus", "live", "after"}},
		"GET " + one:                             {show: showCompany},
		"POST " + one + "/kyb":                   {show: showCompany, do: moveKYB},
		"POST " + one + "/live":                  {show: showCompany, do: setLive},
		"GET " + one + "/terms":                  {show: showTerms},
		"GET " + one + "/accounts/{id}":          {show: showEntries, query: after},
		"POST " + one + "/accounts/{id}":         {show: showEntries, do: setAccountStatus},
		"GET " + one + "/customers":              {show: showCustomers, query: after},
		"GET " + one + "/customers/{id}":         {show: showCustomer},
		"GET " + one + "/customers/{id}/credits": {show: showCustomerCredits, query: after},
		"POST " + one + "/customers/{id}":        {show: showCustomer, do: reveal},
		"GET " + one + "/customers/{id}/{seen}":  {show: showRevealed},
		"GET " + one + "/virtual-accounts":       {show: showVirtualAccounts, query: after},
		"GET " + one + "/cards":                  {show: showCards, query: []string{"after", "customer"}},
		"GET " + one + "/events":                 {show: showEvents, query: after},
		"GET " + one + "/deliveries":             {show: showDeliveries, query: append([]string{"state"}, after...)},
	}
}

// about is a page about one company.
type about struct {
	admin.CompanyDetail
	at string // the address of the tab
}

func (a about) path() string { return "/console/companies/" + url.PathEscape(a.Reference) }

// tabs are the pages about the company.
func (a about) tabs() []tab {
	return []tab{
		{a.path(), "Overview"},
		{a.path() + "/terms", "Fees and limits"},
		{a.path() + "/customers", "Customers"},
		{a.path() + "/virtual-accounts", "Virtual accounts"},
		{a.path() + "/cards", "Cards"},
		{a.path() + "/events", "Events"},
		{a.path() + "/webhooks", "Webhooks"},
		{a.path() + "/deliveries", "Deliveries"},
		{a.path() + "/people", "People"},
	}
}

// company reads the company of the address.
func (v *visit) company(at string) (about, error) {
	a := about{}
	_, err := v.call("findCompany", admin.Input{Path: v.named()}, &a.CompanyDetail)
	a.at = a.path() + at
	return a, err
}

// named returns the parts of the address that operations take.
func (v *visit) named() map[string]string {
	return map[string]string{"reference": v.PathValue("reference"), "id": v.PathValue("id")}
}

// rowsOf reads a page of the rows of the company.
func (v *visit) rowsOf(operation string, out any) error {
	q := url.Values{}
	for _, name := range []string{"after", "customer", "state"} {
		if value := v.URL.Query().Get(name); value != "" {
			q.Set(name, value)
		}
	}
	_, err := v.call(operation, admin.Input{Path: v.named(), Query: q}, out)
	return err
}

func showCompanies(v *visit) (view, error) {
	q := url.Values{"after": {v.filter("after", "")}, "pageSize": {"50"}}
	for _, name := range []string{"kybStatus", "live"} {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	var page cursorList[admin.Company]
	_, err := v.call("listCompanies", admin.Input{Query: q}, &page)
	return view{title: "Companies", item: "companies", body: companiesPage(v, page)}, err
}

// shown returns a page of the item companies.
func shown(title string, body component) view {
	return view{title: title, item: "companies", body: body}
}

// shownRows returns a page with rows of a company, and the keys of the rows.
func shownRows(title string, body component, keys []string) view {
	return view{title: title, item: "companies", body: body, rows: keys}
}

func showCompany(v *visit) (view, error) {
	a, err := v.company("")
	page := shown(a.Name, companyPage(v, a))
	page.thing = "Company " + a.Name
	return page, err
}

// terms are what a company pays, and what it may use.
type terms struct {
	fees   admin.Fees
	limits admin.Limits
	quotas admin.Quotas
	xpubs  []admin.Xpub
}

func showTerms(v *visit) (view, error) {
	a, err := v.company("/terms")
	if err != nil {
		return view{}, err
	}
	var t terms
	for _, read := range []struct {
		operation string
		to        any
	}{{"findFees", &t.fees}, {"findLimits", &t.limits}, {"findQuotas", &t.quotas}, {"listXpubs", &t.xpubs}} {
		if _, err = v.call(read.operation, admin.Input{Path: v.named()}, read.to); err != nil {
			return view{}, err
		}
	}
	return shown(a.Name+", fees and limits", termsPage(v, a, t)), nil
}

func showEntries(v *visit) (view, error) {
	a, err := v.company("/accounts")
	if err != nil {
		return view{}, err
	}
	var page admin.Entries
	err = v.rowsOf("listEntries", &page)
	keys := rowKeys(page.Entries, func(r admin.Entry) string { return strconv.FormatInt(r.Sequence, 10) })
	return shownRows(a.Name+", account "+v.PathValue("id"), entriesPage(v, a, page, keys), keys), err
}

func showCustomers(v *visit) (view, error) {
	a, err := v.company("/customers")
	if err != nil {
		return view{}, err
	}
	var page admin.CompanyCustomers
	err = v.rowsOf("listCompanyCustomers", &page)
	keys := rowKeys(page.Customers, func(r admin.CompanyCustomer) string { return r.ID })
	return shownRows(a.Name+", customers", customersPage(v, a, page, keys), keys), err
}

func showCustomer(v *visit) (view, error) {
	page, err := customerView(v, nil)
	page.thing = "Customer " + ending(v.PathValue("id"))
	return page, err
}

func customerView(v *visit, seen *admin.Revealed) (view, error) {
	a, err := v.company("/customers")
	if err != nil {
		return view{}, err
	}
	var c admin.CompanyCustomer
	_, err = v.call("findCompanyCustomer", admin.Input{Path: v.named()}, &c)
	return shown("Customer of "+a.Name, customerPage(v, a, c, seen)), err
}

// showCustomerCredits lists what has arrived on the account of a customer.
func showCustomerCredits(v *visit) (view, error) {
	a, err := v.company("/customers")
	if err != nil {
		return view{}, err
	}
	var c admin.CompanyCustomer
	if _, err = v.call("findCompanyCustomer", admin.Input{Path: v.named()}, &c); err != nil {
		return view{}, err
	}
	var page admin.CustomerCredits
	err = v.rowsOf("listCustomerCredits", &page)
	keys := rowKeys(page.Credits, func(r admin.CustomerCredit) string { return r.Reference })
	return shownRows(a.Name+", credits of a customer", customerCreditsPage(v, a, c, page, keys), keys), err
}

func showVirtualAccounts(v *visit) (view, error) {
	a, err := v.company("/virtual-accounts")
	if err != nil {
		return view{}, err
	}
	var page admin.VirtualAccounts
	err = v.rowsOf("listVirtualAccounts", &page)
	keys := rowKeys(page.VirtualAccounts, func(r admin.VirtualAccount) string { return r.ID })
	return shownRows(a.Name+", virtual accounts", virtualAccountsPage(v, a, page, keys), keys), err
}

func showCards(v *visit) (view, error) {
	a, err := v.company("/cards")
	if err != nil {
		return view{}, err
	}
	var page admin.Cards
	err = v.rowsOf("listCards", &page)
	keys := rowKeys(page.Cards, func(r admin.Card) string { return r.ID })
	return shownRows(a.Name+", cards", cardsPage(v, a, page, keys), keys), err
}

func showEvents(v *visit) (view, error) {
	a, err := v.company("/events")
	if err != nil {
		return view{}, err
	}
	var page admin.CompanyEvents
	err = v.rowsOf("listEvents", &page)
	keys := rowKeys(page.Events, func(r admin.CompanyEvent) string { return r.ID })
	return shownRows(a.Name+", events", eventsPage(v, a, page, keys), keys), err
}

func showDeliveries(v *visit) (view, error) {
	a, err := v.company("/deliveries")
	if err != nil {
		return view{}, err
	}
	var page admin.Deliveries
	err = v.rowsOf("listDeliveries", &page)
	keys := rowKeys(page.Deliveries, func(r admin.Delivery) string { return r.ID })
	return shownRows(a.Name+", deliveries", deliveriesPage(v, a, page, keys), keys), err
}

// stepWord names the step of a payment to which a ledger entry belongs. The first one has no name.
func stepWord(e admin.Entry) string {
	switch {
	case e.Step != "":
		return sentence(words(e.Step))
	case e.Amount > 0:
		return "Money in"
	}
	return "Money out"
}

// kybWords are the states of the KYB check.
var kybWords = []string{"NOT_STARTED", "IN_PROGRESS", "SUBMITTED", "CHANGES_REQUESTED", "REJECTED", "APPROVED"}

// kybChoices are the states of the KYB check, to choose one of them.
func kybChoices() []choice {
	out := []choice{{"", "Every state"}}
	for _, status := range kybWords {
		out = append(out, choice{status, sentence(words(status))})
	}
	return out
}

// liveChoices say whether companies may use the API.
var liveChoices = []choice{{"", "Live or not"}, {"true", "Live"}, {"false", "Not live"}}

// mayAdminister reports whether the person may change the rights of a company.
func (v *visit) mayAdminister() bool { return v.may(operator.Admin) }

func kybChip(status string) (kind string) {
	switch status {
	case "APPROVED":
		return "ok"
	case "REJECTED":
		return "failed"
	case "SUBMITTED", "CHANGES_REQUESTED":
		return "wait"
	}
	return "idle"
}

// deliveryStates are the states of a delivery by which the list can be filtered.
var deliveryStates = []choice{{"", "Any"}, {"PENDING", "Waiting"}, {"DELIVERED", "Delivered"}, {"FAILED", "Given up"}}

// deliveryChip returns how a delivery is drawn.
func deliveryChip(status string) (kind, word string) {
	switch status {
	case "DELIVERED":
		return "ok", "Delivered"
	case "FAILED":
		return "failed", "Given up"
	}
	return "wait", "Waiting"
}

// fullName returns the name of a customer.
func fullName(c admin.CompanyCustomer) string {
	return strings.Join(strings.Fields(c.FirstName+" "+optional(c.MiddleName)+" "+c.LastName), " ")
}
