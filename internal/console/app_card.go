package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

func (c *console) cardRoutes() map[string]route {
	return map[string]route{
		"GET /app/services/cards/new":             {show: showNewCard, query: []string{"customer"}},
		"POST /app/services/cards/new":            {show: showNewCard, do: makeCard},
		"GET /app/services/cards/asked":           {show: showAskedCard},
		"GET /app/services/cards/{id}":            {show: showOwnCard, query: []string{"after"}},
		"POST /app/services/cards/{id}/fund":      {show: showOwnCard, do: checkFunding},
		"GET /app/services/cards/{id}/fund/{n}":   {show: showFunding},
		"POST /app/services/cards/{id}/fund/{n}":  {show: showFunding, do: sendFunding, proof: newProof},
		"POST /app/services/cards/{id}/freeze":    {show: showOwnCard, do: actOnCard("freeze")},
		"POST /app/services/cards/{id}/unfreeze":  {show: showOwnCard, do: actOnCard("unfreeze"), proof: recentProof},
		"POST /app/services/cards/{id}/terminate": {show: showOwnCard, do: actOnCard("terminate"), proof: recentProof},
	}
}

// ownCard is a card as pages show it.
type ownCard struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Brand      string  `json:"brand"`
	MaskedPan  string  `json:"maskedPan"`
	Status     string  `json:"status"`
	CustomerID *string `json:"customerId"`
	CreatedAt  string  `json:"createdAt"`
}

// path returns the address of the card.
func (c ownCard) path() string { return "/app/services/cards/" + url.PathEscape(c.ID) }

// name is the brand with the number, of which only the ends are known.
func (c ownCard) name() string { return strings.TrimSpace(c.Brand + " " + c.MaskedPan) }

// cardUse is what the issuer has reported of a card.
type cardUse struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	Amount    money.Kobo `json:"amount"`
	Currency  string     `json:"currency"`
	Merchant  string     `json:"merchant"`
	CreatedAt string     `json:"createdAt"`
}

// sum is what the use has moved on the card, in the currency of the card.
func (u cardUse) sum() string {
	if u.Currency == "" || u.Currency == "NGN" {
		return naira(u.Amount)
	}
	return u.Amount.Decimal() + " " + u.Currency
}

// what says what has happened, such as "Transaction created".
func (u cardUse) what() string {
	return sentence(strings.ToLower(strings.NewReplacer(".", " ", "_", " ").Replace(u.Type)))
}

func (v *visit) card() (ownCard, error) {
	var c one[ownCard]
	_, err := v.ask("GET", "/api/v1/card/get-card/"+url.PathEscape(v.PathValue("id")), nil, &c)
	return c.Data, err
}

func showOwnCard(v *visit) (view, error) {
	c, err := v.card()
	if err != nil {
		return view{}, err
	}
	l, err := ownRows[cardUse](v, "/api/v1/card/"+url.PathEscape(c.ID)+"/transactions")
	return view{title: "Card", item: "services", body: ownCardPage(v, c, l), thing: "Card " + ending(v.PathValue("id"))}, err
}

// actOnCard returns the function that freezes, unfreezes or terminates a card. A thief is stopped at once: only
// a freeze needs no fresh proof.
func actOnCard(act string) func(v *visit) (string, error) {
	return func(v *visit) (string, error) {
		id, body := url.PathEscape(v.PathValue("id")), map[string]any{}
		v.some(body, "reason")
		_, err := v.ask("POST", "/api/v1/card/"+id+"/"+act, body, nil)
		return "/app/services/cards/" + id, err
	}
}

func showNewCard(v *visit) (view, error) {
	return view{title: "New card", item: "services", body: newCardPage(v)}, nil
}

func showAskedCard(*visit) (view, error) {
	return view{title: "The card is being made", item: "services", body: askedCardPage()}, nil
}

// makeCard makes a card without money on it. The number of a physical card is in the request alone: the form that comes
// back does not have it.
func makeCard(v *visit) (string, error) {
	body := map[string]any{}
	v.some(body, "customerId", "type", "brand")
	if number := strings.ReplaceAll(v.field("number"), " ", ""); number != "" {
		body["number"] = number
	}
	if v.field("sendPINSMS") != "" {
		body["sendPINSMS"] = true
	}
	var made one[ownCard]
	_, err := v.ask("POST", "/api/v1/card/generate-card", body, &made)
	if err != nil && fault.Of(err).Reason() == fault.BeingConfirmed {
		return "/app/services/cards/asked", nil
	}
	return made.Data.path(), err
}

// funding is a card funding that has not been sent.
type funding struct {
	Card         string // the id
	Amount       json.Number
	OwnReference string `json:",omitempty"`
	Seen         price  // what the review has shown
}

// body is the request that funds the card.
func (f funding) body() map[string]any {
	out := map[string]any{"cardId": f.Card, "amount": f.Amount}
	if f.OwnReference != "" {
		out["externalReference"] = f.OwnReference
	}
	return out
}

// priceOfFunding asks what a funding would do.
func (v *visit) priceOfFunding(f funding) (price, error) {
	var said one[struct {
		preview
		Amount  money.Kobo `json:"amount"`
		Balance money.Kobo `json:"balance"`
	}]
	_, err := v.ask("POST", "/api/v1/card/fund-card?dry_run=true", f.body(), &said)
	p := said.Data
	return price{p.WouldSucceed, optional(p.Refusal), p.Amount, p.Fee, p.Total, p.Balance, p.BalanceAfter}, err
}

func checkFunding(v *visit) (string, error) {
	c, err := v.card()
	if err != nil {
		return "", err
	}
	amount, err := payable(v.field("amount"))
	if err != nil {
		return "", err
	}
	f := funding{Card: c.ID, Amount: amount, OwnReference: v.field("externalReference")}
	if f.Seen, err = v.priceOfFunding(f); err != nil {
		return "", err
	}
	return v.review(c.path()+"/fund", f)
}

// fundingOf reads the funding of the address, which is of the card of the address.
func (v *visit) fundingOf() (f funding, err error) {
	if err = v.reviewed(&f, "page of the card and at the ledger"); err == nil && f.Card != v.PathValue("id") {
		err = errNothing
	}
	return f, err
}

// paysFundings returns the account that pays for cards.
func paysFundings(all []account) account {
	if at := slices.IndexFunc(all, func(a account) bool { return a.IsDefault }); at >= 0 {
		return all[at]
	}
	return account{Name: "the first active settlement account"}
}

func showFunding(v *visit) (view, error) {
	f, err := v.fundingOf()
	if err != nil {
		return view{}, err
	}
	c, err := v.card()
	if err != nil {
		return view{}, err
	}
	accounts, err := v.settlementAccounts()
	if err != nil {
		return view{}, err
	}
	if v.problem == nil {
		v.reviewing()
		if f.Seen, err = v.priceOfFunding(f); err != nil {
			return view{}, err
		}
	}
	second, err := v.needsSecond(f.Seen.Amount)
	return view{title: "Fund the card", item: "services", body: fundingPage(v, c, f.Seen, paysFundings(accounts), second)}, err
}

func sendFunding(v *visit) (string, error) {
	v.reviewing()
	f, err := v.fundingOf()
	if err != nil {
		return "", err
	}
	now, err := v.priceOfFunding(f)
	if err == nil && !now.isAs(f.Seen) {
		err = errChanged(f.Seen, now)
	}
	if err != nil {
		return "", err
	}
	var sent one[struct {
		Reference string `json:"reference"`
	}]
	_, err = v.ask(http.MethodPost, "/api/v1/card/fund-card", f.body(), &sent)
	return v.reviewDone("/app/p/"+sent.Data.Reference, err)
}

// ownCardChip returns the chip of a card's state at the issuer.
func ownCardChip(status string) (kind, word string) {
	switch status {
	case "active":
		return "ok", "Active"
	case "inactive":
		return "idle", "Frozen"
	case "canceled":
		return "idle", "Terminated"
	}
	return "idle", sentence(words(status))
}
