package console

import (
	"net/url"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) ownSearchRoutes() map[string]route {
	return map[string]route{
		"GET /app/search":  {show: showOwnSearch},
		"POST /app/search": {show: showOwnSearch, do: findOwn},
	}
}

func showOwnSearch(v *visit) (view, error) {
	return view{title: "Search", item: "home", body: ownSearchPage(v)}, nil
}

// look is a place where something of the company may have a reference.
type look struct{ asked, page string }

// looks returns the places, the most frequent one first.
func looks(id string) []look {
	part := url.PathEscape(id)
	return []look{
		{"/api/v1/timeline/" + part, "/app/p/" + part},
		{"/api/v1/settlement/bulk-payout/" + part + "?limit=1", "/app/payouts/bulk/" + part},
		{"/api/v1/customer/" + part, "/app/customers/" + part},
		{"/api/v1/card/get-card/" + part, "/app/services/cards/" + part},
		{"/api/v1/company/approvals/" + part, "/app/approvals/" + part},
	}
}

// findOwn leads to what of the company has a reference. The text is in the form and not in an address, because somebody may
// type a name or a phone number.
func findOwn(v *visit) (string, error) {
	text := v.field("q")
	if len(text) < 4 || len(text) > 250 || strings.ContainsAny(text, "/?#") {
		return "", errNotFound
	}
	for _, l := range looks(text) {
		_, err := v.ask("GET", l.asked, nil, nil)
		if err == nil {
			return l.page, nil
		}
		if !isNotThere(err) {
			return "", err
		}
	}
	var paid listOf[payoutRow]
	if _, err := v.ask("GET", "/api/v1/settlement/payouts?"+url.Values{"externalReference": {text}}.Encode(), nil, &paid); err != nil {
		return "", err
	}
	if len(paid.Data.Data) == 1 {
		return "/app/p/" + paid.Data.Data[0].Reference, nil
	}
	return "", errNotFound
}

var errNotFound = fault.New(fault.Refused, "Nothing of your company has exactly this reference")

// isNotThere reports whether the API refuses an id because nothing has it, or because no such thing could have it.
func isNotThere(err error) bool {
	return fault.Is(err, fault.Missing) || fault.Is(err, fault.Invalid) || fault.Is(err, fault.Refused)
}
