package console

import (
	"encoding/json"
	"net/url"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) searchRoutes() map[string]route {
	return map[string]route{
		"GET /console/search":          {show: showNoSearch},
		"POST /console/search":         {show: showNoSearch, do: search},
		"GET /console/search/{answer}": {show: showFound},
	}
}

// searched is what a search has found, for the page that shows it.
type searched struct {
	admin.Found
	Day string // to which the hits are narrowed, or ""
	// Payments is the address of the payments of an amount, if the number that was typed may be one. Otherwise it is "".
	Payments string
}

// search asks what a text is, and leads to the only thing that was found, or to a page with all of them. No
// address has the text, since it may be a phone number or a name. An amount and a day lead to the payments.
func search(v *visit) (string, error) {
	if v.field("q") == "" {
		return "/console/search", nil
	}
	w, err := wantedOf(v.PostForm.Get("q"), v.now())
	if err != nil || w.text == "" && w.payments() != "/console/payments?" {
		return w.payments(), err
	}
	var found searched
	if _, err := v.call("search", admin.Input{Body: admin.SearchRequest{Text: w.text}}, &found.Found); err != nil {
		return "", err
	}
	found.Hits, found.Day = w.onDay(found.Hits), w.day
	if w.isMaybe {
		if len(found.Hits) == 0 {
			return w.payments(), nil
		}
		found.Payments = w.payments()
	}
	if len(found.Hits) == 1 && !found.More && !w.isMaybe {
		return hitPath(found.Hits[0]), nil
	}
	text, err := json.Marshal(found)
	return "/console/search/" + v.answers.keep(v.session, text), err
}

// showNoSearch is the page before a search, and after a refused one.
func showNoSearch(v *visit) (view, error) {
	m, err := v.memory()
	return view{title: "Search", body: templ.Join(refusedSearch(v), emptyBox(v, m))}, err
}

var errOldSearch = fault.New(fault.Missing, "This search is more than five minutes old. Search again.")

func showFound(v *visit) (view, error) {
	text, there := v.answers.read(v.session, v.PathValue("answer"))
	if !there {
		return view{}, errOldSearch
	}
	var found searched
	err := json.Unmarshal(text, &found)
	return view{title: "Search: " + found.As, body: foundPage(v, found)}, err
}

// hitPath returns the page of what was found.
func hitPath(h admin.Hit) string {
	company := "/console/companies/" + url.PathEscape(h.Company)
	switch h.Kind {
	case "company", "deposit address":
		return company
	case "person":
		return company + "/people"
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
