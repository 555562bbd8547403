package console

import (
	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/money"
)

// purchaseStates are the states of a company's purchases on the wire.
var purchaseStates = []choice{{"", "Any"}, {"PENDING", "Without an outcome"}, {"SUCCESS", "Delivered"}, {"FAILED", "Failed, refunded"}, {"REVERSED", "Reversed, refunded"}}

// purchaseWord says what was bought.
func purchaseWord(kind string) string {
	if kind == "CABLE_TV" {
		return "Cable TV"
	}
	return sentence(words(kind))
}

// purchaseRow is a purchase as lists show it. It has no code of a meter.
type purchaseRow struct {
	ID           string     `json:"transactionId"`
	Type         string     `json:"type"`
	Status       string     `json:"status"`
	Amount       money.Text `json:"amount"`
	Fee          money.Text `json:"fee"`
	Product      *string    `json:"productName"`
	Phone        *string    `json:"phoneNumber"`
	Card         *string    `json:"cardNumber"`
	Meter        *string    `json:"meterNumber"`
	OwnReference string     `json:"externalReference"`
	CreatedAt    string     `json:"createdAt"`
}

func showPurchases(v *visit) (view, error) {
	l, err := ownRows[purchaseRow](v, "/api/v1/vtu/transactions")
	if err != nil {
		return view{}, err
	}
	states := map[string]string{}
	for _, r := range l.rows {
		states[r.ID] = r.Status
	}
	known, err := v.outcomesOf(states)
	if err != nil {
		return view{}, err
	}
	t := table{
		title: "Purchases", item: "services", tabs: serviceTabs, tab: serviceTabs[1].path, next: l.next,
		nothing: "Nothing has been sold yet.", above: templ.Join(purchaseButton(v), ownFilters(v, serviceTabs[1].path, purchaseStates), downloadBar(v, "/app/services/purchases")),
	}
	for _, r := range l.rows {
		kind, word := v.chipNow("vtu", r.ID, r.Status, known)
		t.rows = append(t.rows, []cell{
			time_(r.CreatedAt), text(purchaseWord(r.Type)), text(optional(r.Product)), sum(money.Kobo(r.Amount)), sum(money.Kobo(r.Fee)), state(kind, word), reference(r.OwnReference), link(ending(r.ID), "/app/p/"+r.ID),
		})
	}
	t, err = t.choosing(v, serviceTabs[1].path)
	return t.view(v), err
}
