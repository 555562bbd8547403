package console

import (
	"net/url"
)

func (c *console) cardRoutes() map[string]route {
	return map[string]route{
		"GET /app/services/cards/{id}":            {show: showOwnCard},
		"POST /app/services/cards/{id}/freeze":    {show: showOwnCard, do: actOnCard("freeze")},
		"POST /app/services/cards/{id}/unfreeze":  {show: showOwnCard, do: actOnCard("unfreeze"), proof: true},
		"POST /app/services/cards/{id}/terminate": {show: showOwnCard, do: actOnCard("terminate"), proof: true},
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

func showOwnCard(v *visit) (view, error) {
	var c one[ownCard]
	_, err := v.ask("GET", "/api/v1/card/get-card/"+url.PathEscape(v.PathValue("id")), nil, &c)
	return view{title: "Card", item: "services", body: ownCardPage(v, c.Data)}, err
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
