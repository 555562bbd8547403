package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

func (c *console) purchaseRoutes() map[string]route {
	return map[string]route{
		"GET /app/services/purchases/new":          {show: showNewPurchase, query: []string{"service", "category"}},
		"POST /app/services/purchases/check":       {show: showNewPurchase, do: checkPurchase},
		"GET /app/services/purchases/confirm/{n}":  {show: showSale},
		"POST /app/services/purchases/confirm/{n}": {show: showSale, do: buySale, proof: newProof},
	}
}

// trade is a kind of service: what a page asks for, and the operation that buys it.
type trade struct {
	service  string // its name in the catalogue
	number   string // the label of the number that gets it
	isPhone  bool   // the number is a phone
	product  bool   // somebody chooses a product; otherwise an amount
	verifies bool   // the vendor names the owner of the number
	path     string
}

var trades = []trade{
	{"Airtime", "Phone", true, false, false, "purchase-airtime"},
	{"Data", "Phone", true, true, false, "purchase-data"},
	{"Cable TV", "Smartcard number", false, true, true, "purchase-cable-tv"},
	{"Utility", "Meter number", false, false, true, "purchase-utility"},
}

// soldService, soldCategory and soldProduct are the rows of the catalogue.
type (
	soldService struct {
		ID   string `json:"serviceId"`
		Name string `json:"serviceName"`
	}
	soldCategory struct {
		ID   string `json:"serviceCategoryId"`
		Name string `json:"serviceCategoryName"`
	}
	soldProduct struct {
		ID       string     `json:"categoryProductId"`
		Name     string     `json:"categoryProductName"`
		Amount   money.Text `json:"amount"`
		Fixed    bool       `json:"isFixedAmount"`
		Validity string     `json:"validity"`
	}
)

// words names a product with its price.
func (p soldProduct) words() string {
	out := p.Name + ": " + naira(money.Kobo(p.Amount))
	if p.Validity != "" && p.Validity != p.Name {
		out += ", " + p.Validity
	}
	return out
}

// counter is what somebody can choose from: the services, then the vendors of one, then the products of a vendor.
type counter struct {
	services   []soldService
	service    soldService
	trade      trade
	categories []soldCategory
	category   soldCategory
	products   []soldProduct
	accounts   []account
}

// chosen returns what the address or the form has chosen.
func (v *visit) chosen(name string) string {
	return cmp.Or(v.URL.Query().Get(name), v.PostForm.Get(name))
}

// success is an answer of the operations about purchases.
type success[R any] struct {
	Data R `json:"data"`
}

// counter reads the catalogue as far as somebody has chosen.
func (v *visit) counter() (c counter, err error) {
	var services success[[]soldService]
	if _, err = v.ask("GET", "/api/v1/vtu/services", nil, &services); err != nil {
		return c, err
	}
	c.services = slices.DeleteFunc(services.Data, func(s soldService) bool { return tradeOf(s.Name) < 0 })
	serviceID := v.chosen("service")
	if serviceID == "" {
		return c, nil
	}
	at := slices.IndexFunc(c.services, func(s soldService) bool { return s.ID == serviceID })
	if at < 0 {
		return c, errNothing
	}
	c.service = c.services[at]
	c.trade = trades[tradeOf(c.service.Name)]
	var categories success[[]soldCategory]
	if _, err = v.ask("GET", "/api/v1/vtu/service/"+url.PathEscape(serviceID)+"/categories", nil, &categories); err != nil {
		return c, err
	}
	c.categories = categories.Data
	categoryID := v.chosen("category")
	if categoryID == "" {
		return c, nil
	}
	if at = slices.IndexFunc(c.categories, func(s soldCategory) bool { return s.ID == categoryID }); at < 0 {
		return c, errNothing
	}
	c.category = c.categories[at]
	if c.trade.product {
		var products success[[]soldProduct]
		if _, err = v.ask("GET", "/api/v1/vtu/category/"+url.PathEscape(categoryID)+"/products", nil, &products); err != nil {
			return c, err
		}
		c.products = slices.DeleteFunc(products.Data, func(p soldProduct) bool { return !p.Fixed }) // without a price, it cannot be bought
	}
	c.accounts, err = v.settlementAccounts()
	return c, err
}

func tradeOf(service string) int {
	return slices.IndexFunc(trades, func(t trade) bool { return t.service == service })
}

func showNewPurchase(v *visit) (view, error) {
	c, err := v.counter()
	return view{title: "New purchase", item: "services", body: newPurchasePage(v, c)}, err
}

// sale is a purchase that has not been made.
type sale struct {
	Service, Vendor, Product, Number                    string
	Owner, Address, Package, Due                        string // what the vendor says about the number, or ""
	CategoryID, ProductID, VerificationID, OwnReference string
	Amount                                              json.Number `json:",omitempty"` // for what has no product
	Account                                             int64
	Seen                                                price // what the review has shown
}

// path returns the operation that buys it.
func (s sale) path() string { return "/api/v1/vtu/" + trades[tradeOf(s.Service)].path }

// words says what is bought, such as "1 GB monthly" or "MTN airtime".
func (s sale) words() string {
	switch s.Service {
	case "Airtime":
		return s.Vendor + " airtime"
	case "Utility":
		return s.Vendor + " power"
	}
	return s.Vendor + " " + s.Product
}

// checkPurchase asks the vendor for the owner of a meter or a smartcard, and what the purchase would cost.
func checkPurchase(v *visit) (string, error) {
	c, err := v.counter()
	if err != nil {
		return "", err
	}
	if c.category.ID == "" {
		return "", fault.New(fault.Invalid, "Choose a service and a vendor")
	}
	from, err := strconv.ParseInt(v.field("settlementId"), 10, 64)
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose the account that pays").Because(err)
	}
	s := sale{
		Service: c.service.Name, Vendor: c.category.Name, Number: v.field("number"), CategoryID: c.category.ID, OwnReference: v.field("externalReference"),
		Account: from,
	}
	if err := v.chooseGoods(c, &s); err != nil {
		return "", err
	}
	if err := v.chooseNumber(c, &s); err != nil {
		return "", err
	}
	v.number = newForm()
	if s.Seen, err = v.priceOfSale(s); err != nil {
		return "", err
	}
	return v.review("/app/services/purchases/confirm", s)
}

// chooseGoods puts the product or the amount into a purchase.
func (v *visit) chooseGoods(c counter, s *sale) error {
	if !c.trade.product {
		amount, err := payable(v.field("amount"))
		s.Amount = amount
		return err
	}
	at := slices.IndexFunc(c.products, func(p soldProduct) bool { return p.ID == v.field("product") })
	if at < 0 {
		return fault.New(fault.Invalid, "Choose a product")
	}
	s.Product, s.ProductID = c.products[at].Name, c.products[at].ID
	return nil
}

// chooseNumber puts the phone, or the verified smartcard or meter, into a purchase.
func (v *visit) chooseNumber(c counter, s *sale) error {
	if !c.trade.verifies {
		return nil
	}
	var said success[struct {
		ID       string  `json:"meterVerificationId"`
		Owner    string  `json:"customerName"`
		Address  *string `json:"address"`
		Package  *string `json:"currentPackage"`
		Due      *string `json:"dueDate"`
		VendType *string `json:"vendType"`
	}]
	_, err := v.ask(http.MethodPost, "/api/v1/vtu/verify-entity", map[string]any{"serviceCategoryId": c.category.ID, "entityNumber": s.Number}, &said)
	d := said.Data
	s.VerificationID, s.Owner, s.Address, s.Due = d.ID, d.Owner, optional(d.Address), optional(d.Due)
	s.Package = cmp.Or(optional(d.Package), sentence(words(optional(d.VendType))))
	return err
}

// body is the request that buys. The name is the company's own name of the purchase.
func (s sale) body(name string) map[string]any {
	t := trades[tradeOf(s.Service)]
	out := map[string]any{"idempotencyKey": name, "settlementId": s.Account}
	if s.OwnReference != "" {
		out["externalReference"] = s.OwnReference
	}
	if t.product {
		out["productId"] = s.ProductID
	} else {
		out["amount"] = s.Amount
	}
	if t.isPhone {
		out["phoneNumber"], out["serviceCategoryId"] = s.Number, s.CategoryID
		return out
	}
	out["meterVerificationId"] = s.VerificationID
	if t.product {
		out["cardNumber"] = s.Number
	}
	return out
}

// nameOfSale is the own name of a purchase: the number of its form.
func (v *visit) nameOfSale() string { return keyOf(cmp.Or(v.number, v.PostForm.Get("form"))) }

// priceOfSale asks what a purchase would do.
func (v *visit) priceOfSale(s sale) (price, error) {
	var said success[struct {
		WouldSucceed bool       `json:"wouldSucceed"`
		Refusal      *string    `json:"refusal"`
		Amount       money.Text `json:"amount"`
		Fee          money.Text `json:"fee"`
		Total        money.Text `json:"total"`
		Balance      money.Text `json:"balance"`
		BalanceAfter money.Text `json:"balanceAfter"`
	}]
	_, err := v.ask(http.MethodPost, s.path()+"?dry_run=true", s.body(v.nameOfSale()), &said)
	p := said.Data
	return price{p.WouldSucceed, optional(p.Refusal), money.Kobo(p.Amount), money.Kobo(p.Fee), money.Kobo(p.Total), money.Kobo(p.Balance), money.Kobo(p.BalanceAfter)}, err
}

// sale reads the purchase of the address.
func (v *visit) sale() (s sale, err error) {
	if err = v.reviewed(&s, "purchases"); err == nil && tradeOf(s.Service) < 0 {
		err = errNothing
	}
	return s, err
}

func showSale(v *visit) (view, error) {
	s, err := v.sale()
	if err != nil {
		return view{}, err
	}
	accounts, err := v.settlementAccounts()
	if err != nil {
		return view{}, err
	}
	at := slices.IndexFunc(accounts, func(a account) bool { return a.ID == s.Account })
	if at < 0 {
		return view{}, errNothing
	}
	if v.problem == nil || v.problem.Kind == fault.Conflict {
		v.reviewing()
		if s.Seen, err = v.priceOfSale(s); err != nil {
			return view{}, err
		}
	}
	second, err := v.needsSecond(s.Seen.Amount)
	return view{title: "Confirm the purchase", item: "services", body: salePage(v, s, accounts[at], second)}, err
}

// buySale buys at the price that this very page has shown, and not at the price of an earlier view of it.
func buySale(v *visit) (string, error) {
	v.reviewing()
	s, err := v.sale()
	if err != nil {
		return "", err
	}
	var bought success[struct {
		ID string `json:"transactionId"`
	}]
	seen := v.seen()
	_, err = v.seeing(seen).ask(http.MethodPost, s.path(), s.body(v.nameOfSale()), &bought)
	if isOther(err) {
		return "", v.priceChanged(s, seen.Amount, err)
	}
	return v.reviewDone("/app/p/"+bought.Data.ID, err)
}

// title says what to choose next.
func (c counter) title() string {
	switch {
	case c.service.ID == "":
		return "What do you sell?"
	case c.category.ID == "":
		return c.service.Name + " of which vendor?"
	}
	return c.category.Name + ", " + c.service.Name
}

// button is the label of the button that checks a purchase.
func (c counter) button() string {
	if c.trade.verifies {
		return "Ask for the name"
	}
	return "Look at it first"
}
