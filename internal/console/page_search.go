package console

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) searchRoutes() map[string]route {
	return map[string]route{
		"POST /console/search":         {show: showNoSearch, do: search},
		"GET /console/search/{answer}": {show: showFound},
	}
}

// amounts matches what can only be an amount: with ₦, or with two decimals. Digits alone are a number of something.
var amounts = regexp.MustCompile(`^(₦ ?[0-9,]+(\.[0-9]{1,2})?|[0-9]{1,3}(,[0-9]{3})*\.[0-9]{2}|[0-9]+\.[0-9]{2})$`)

// search asks what a text is, and leads to the only thing that was found, or to a page with all of them. No
// address has the text, since it may be a phone number or a name.
func search(v *visit) (string, error) {
	if text := strings.TrimSpace(v.PostForm.Get("q")); amounts.MatchString(text) {
		k, err := nairaOf(text, "The amount")
		return "/console/payments?" + url.Values{"least": {k.Decimal()}, "most": {k.Decimal()}}.Encode(), err
	}
	var found admin.Found
	if _, err := v.call("search", admin.Input{Body: admin.SearchRequest{Text: v.PostForm.Get("q")}}, &found); err != nil {
		return "", err
	}
	if len(found.Hits) == 1 && !found.More {
		return hitPath(found.Hits[0]), nil
	}
	text, err := json.Marshal(found)
	return "/console/search/" + v.answers.keep(v.session, text), err
}

// showNoSearch is the page after a refused search.
func showNoSearch(v *visit) (view, error) { return view{title: "Search", body: refusedSearch(v)}, nil }

var errOldSearch = fault.New(fault.Missing, "This search is more than five minutes old. Search again.")

func showFound(v *visit) (view, error) {
	text, there := v.answers.read(v.session, v.PathValue("answer"))
	if !there {
		return view{}, errOldSearch
	}
	var found admin.Found
	err := json.Unmarshal(text, &found)
	return view{title: "Search: " + found.As, body: foundPage(v, found)}, err
}

// hitPath returns the page of what was found.
func hitPath(h admin.Hit) string {
	company := "/console/companies/" + url.PathEscape(h.Company)
	switch h.Kind {
	case "company", "deposit address", "person":
		return company
	case "operator":
		return "/console/people"
	case "deposit":
		return "/console/p/" + url.PathEscape(h.Company+"-"+h.ID)
	case "customer":
		return company + "/customers/" + url.PathEscape(h.ID)
	case "card":
		return company + "/cards"
	case "settlement account":
		return company + "/accounts/" + url.PathEscape(h.ID)
	}
	return "/console/p/" + url.PathEscape(h.ID)
}

// hitGroup are the things of one kind that were found.
type hitGroup struct {
	kind string
	hits []admin.Hit
}

// groups returns what was found by kind, in the order of the first of each.
func groups(hits []admin.Hit) (out []hitGroup) {
	at := map[string]int{}
	for _, h := range hits {
		n, known := at[h.Kind]
		if !known {
			n = len(out)
			at[h.Kind] = n
			out = append(out, hitGroup{kind: h.Kind})
		}
		out[n].hits = append(out[n].hits, h)
	}
	return out
}
