package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

func (c *console) ownSearchRoutes() map[string]route {
	return map[string]route{
		"GET /app/search":          {show: showOwnSearch},
		"POST /app/search":         {show: showOwnSearch, do: findOwn},
		"GET /app/search/{answer}": {show: showOwnFound},
	}
}

func showOwnSearch(v *visit) (view, error) {
	m, err := v.memory()
	return view{title: "Search", item: "home", body: templ.Join(ownSearchPage(v), emptyBox(v, m))}, err
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

// ownHit is one thing of the company that a search has found.
type ownHit struct {
	Kind, Name, ID, Page string
	Amount               money.Kobo
	At                   time.Time
}

// ownFound is what a search has found, for the page that shows it.
type ownFound struct {
	As, Note, Period string
	Where            []string
	Hits             []ownHit
	More             bool
}

var errLong = fault.Newf(fault.Invalid, "Type %d characters at most.", maxSearch)

// maxSearch is the longest text that is looked up, in characters.
const maxSearch = 250

// findOwn leads to the only thing of the company that was found, or to a page with all of them. The text is in the form and
// not in an address, because somebody may type a name or a phone number.
func findOwn(v *visit) (string, error) {
	text := v.field("q")
	if text == "" {
		return "/app/search", nil
	}
	if utf8.RuneCountInString(text) > maxSearch {
		return "", errLong
	}
	if _, err := v.ask("GET", "/api/v1/company", nil, nil); err != nil {
		return "", err // the company may not use Kobo now
	}
	w, err := wantedOf(text, v.now())
	if err != nil {
		return "", err
	}
	var found ownFound
	if w.text == "" || w.isMaybe {
		found, err = v.ownPayments(w)
	}
	if err == nil && w.text != "" {
		asked := report.AskOwn(w.text)
		var place string
		if place, err = v.placeOf(asked); err != nil || place != "" {
			return place, err
		}
		if len(found.Hits) == 0 {
			found, err = v.lookOwn(w, asked)
		}
	}
	if err != nil {
		return "", err
	}
	if len(found.Hits) == 1 && !found.More {
		return found.Hits[0].Page, nil
	}
	kept, err := json.Marshal(found)
	return "/app/search/" + v.answers.keep(v.session, kept), err
}

// placeOf returns the page of what has a text as its id, or "". A text with other signs is no id.
func (v *visit) placeOf(asked report.Own) (string, error) {
	text := asked.Normal()
	if !asked.IsID || strings.ContainsAny(text, "/?#@+ ") {
		return "", nil
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
	return "", nil
}

// lookOwn looks for a text by its shape.
func (v *visit) lookOwn(w wanted, asked report.Own) (ownFound, error) {
	hits, more, err := v.Reports.SearchOwn(v.Context(), v.who.Company, asked)
	out := ownFound{As: asked.As, Note: asked.Note, Where: asked.Where, More: more, Period: w.day}
	for _, h := range hits {
		out.Hits = append(out.Hits, ownHit{Kind: h.Kind, Name: h.Name, ID: h.ID, Page: ownHitPath(h), Amount: h.Amount, At: h.At})
	}
	if err == nil && asked.HasNames {
		err = v.customersNamed(w.text, &out)
	}
	out.Hits = slices.DeleteFunc(out.Hits, func(h ownHit) bool {
		return w.day != "" && !h.At.IsZero() && h.At.In(lagos).Format(time.DateOnly) != w.day
	})
	return out, err
}

// customersNamed adds the customers of the company whose name contains a text.
func (v *visit) customersNamed(text string, out *ownFound) error {
	var l listOf[struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
		CreatedAt string `json:"createdAt"`
	}]
	if _, err := v.ask("GET", "/api/v1/customer/?"+url.Values{"search": {text}, "pageSize": {"5"}}.Encode(), nil, &l); err != nil {
		return err
	}
	for _, c := range l.Data.Data {
		out.Hits = append(out.Hits, ownHit{Kind: "customer", Name: c.FirstName + " " + c.LastName, ID: c.ID, Page: "/app/customers/" + c.ID, At: instant(c.CreatedAt)})
	}
	out.More = out.More || l.Data.Meta.TotalItems > len(l.Data.Data)
	return nil
}

// ownPayments finds the payments of an amount or of a day. Without a day it looks at the last seven days.
func (v *visit) ownPayments(w wanted) (ownFound, error) {
	out := ownFound{As: "an amount", Where: []string{"payments"}, Period: "the last seven days"}
	f := report.PaymentFilter{Company: v.who.Company, From: v.now().AddDate(0, 0, -usualDays)}
	if w.day != "" {
		day, err := time.ParseInLocation(time.DateOnly, w.day, lagos)
		if err != nil {
			return out, err
		}
		f.From = day
		f.To, out.Period = f.From.AddDate(0, 0, 1), w.day
	}
	if w.least == "" && w.most == "" {
		out.As = "a day"
	}
	for _, bound := range []struct {
		text string
		to   *money.Kobo
	}{{w.least, &f.Least}, {w.most, &f.Most}} {
		if bound.text == "" {
			continue
		}
		k, err := money.Parse(bound.text)
		if err != nil {
			return out, err
		}
		*bound.to = k
	}
	page, err := v.Reports.Payments(v.Context(), f)
	for _, p := range page.Payments {
		h := ownHit{Kind: p.Kind, ID: p.Reference, Page: "/app/p/" + url.PathEscape(p.Reference), Amount: p.Amount, At: p.CreatedAt}
		if p.Kind != "adjustment" { // it names an operator
			h.Name = p.Counterparty
		}
		out.Hits = append(out.Hits, h)
	}
	out.More = page.Next != ""
	return out, err
}

// within says in which time the search has looked, or "" for any.
func (f ownFound) within() string {
	if f.Period == "" {
		return ""
	}
	return ", of " + f.Period + " in Lagos"
}

var methodChoices = []choice{{"", "Any"}, {"GET", "GET"}, {"POST", "POST"}, {"DELETE", "DELETE"}}

func showOwnFound(v *visit) (view, error) {
	text, there := v.answers.read(v.session, v.PathValue("answer"))
	if !there {
		return view{}, errOldSearch
	}
	var found ownFound
	err := json.Unmarshal(text, &found)
	return view{title: "Search: " + found.As, item: "home", body: ownFoundPage(v, found)}, err
}

// ownHitPath returns the page of the company for what was found.
func ownHitPath(h report.Hit) string {
	part := url.PathEscape(h.ID)
	switch h.Kind {
	case "customer":
		return "/app/customers/" + part
	case "settlement account":
		return "/app/money/ledger?settlementId=" + url.QueryEscape(h.ID)
	case "request":
		return "/app/developers/requests?requestId=" + url.QueryEscape(h.ID)
	case "deposit address":
		return "/app/services/crypto/addresses?" + url.Values{"network": {h.Name}, "address": {h.ID}}.Encode()
	case "deposit":
		return "/app/p/" + url.PathEscape(h.Company+"-"+h.ID)
	}
	return "/app/p/" + part
}

// isNotThere reports whether the API refuses an id because nothing has it, or because no such thing could have it.
func isNotThere(err error) bool {
	return fault.Is(err, fault.Missing) || fault.Is(err, fault.Invalid) || fault.Is(err, fault.Refused)
}
