package console

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// change is something that a person can change about a company. Its form comes first. Then a page says in
// sentences what will happen, and a second button does it.
type change struct {
	name      string // in the address
	operation string // of the operators' API; "createProposal" proposes several acts
	title     string
	help      string
	role      operator.Role // the least role that may do it
	fields    []field
	// plan reads the fields. It returns what the operation takes, and the sentences of what will happen.
	plan func(c typedChange) (plan, error)
	// tab is the address below the company of the page that shows the result.
	tab string
}

// field is a field of the form of a change.
type field struct {
	name, label, help string
	kind              string // text, naira, count, day, account, key, bank, choice or bands
	optional          bool
	choices           []choice
	usual             string
}

// plan is what a change is about to do.
type plan struct {
	id   string // the {id} in the path of the operation
	body any
	says []string
	sum  money.Kobo // the amount that moves or holds; 0 for none
}

// typedChange is what a person has typed into the form of a change.
type typedChange struct {
	url.Values
	about about
	live  bool // the deployment gives tokens instead of keys
}

func (c *console) changeRoutes() map[string]route {
	const one = "/console/companies/{reference}/change/{change}"
	return map[string]route{
		"GET /console/companies/new":  {show: showNewCompany},
		"POST /console/companies/new": {show: showNewCompany, do: addCompany},
		"GET " + one:                  {show: showChange, query: []string{"key"}},
		"POST " + one:                 {show: showChange, do: doChange},
		"GET " + one + "/look/{n}":    {show: lookAtChange},
		"GET " + one + "/done/{n}":    {show: showChanged},
	}
}

// askedChange returns the change of the address, if the person may do it.
func (v *visit) askedChange() (change, about, error) {
	i := slices.IndexFunc(changes, func(c change) bool { return c.name == v.PathValue("change") })
	if i < 0 {
		return change{}, about{}, errNothing
	}
	a, err := v.company(changes[i].tab)
	if err == nil && !v.may(changes[i].role) {
		err = fault.Newf(fault.Forbidden, "The role %s can do this. Your role is %s.", changes[i].role, v.by.Role)
	}
	return changes[i], a, err
}

func showChange(v *visit) (view, error) {
	c, a, err := v.askedChange()
	if err != nil {
		return view{}, err
	}
	usual := url.Values{"key": {v.filter("key", "")}}
	if v.problem != nil {
		usual = v.PostForm
	} else if c.name == "fees" {
		if usual, err = v.feesNow(); err != nil {
			return view{}, err
		}
	}
	return shown(c.title+" of "+a.Name, changePage(v, a, c, usual)), nil
}

// heldFields are the fields of a form without those of the frame.
func heldFields(form url.Values) url.Values {
	out := url.Values{}
	for name, values := range form {
		if !strings.HasPrefix(name, proofPrefix) && !slices.Contains([]string{"form", "sure", "was"}, name) {
			out[name] = values
		}
	}
	return out
}

// doChange shows what would happen, and does it when the person is sure. If what would change has another
// value by then, nothing happens.
func doChange(v *visit) (string, error) {
	c, a, err := v.askedChange()
	if err != nil {
		return "", err
	}
	p, err := c.plan(typedChange{heldFields(v.PostForm), a, v.Environment == "live"})
	if err != nil {
		return "", err
	}
	in := v.inputOf(p)
	was, err := v.API.Preview(v.Context(), v.by, c.operation, in)
	if err != nil {
		return "", err
	}
	here := a.path() + "/change/" + c.name
	if v.PostForm.Get("sure") == "" {
		text, err := json.Marshal(heldFields(v.PostForm))
		return here + "/look/" + v.answers.keep(v.session, text), err
	}
	if was.Was != v.PostForm.Get("was") {
		return "", fault.Newf(fault.Conflict, "It has changed since you looked: it was %q, and is %q.", wasWords(c.operation, v.PostForm.Get("was")), wasWords(c.operation, was.Was))
	}
	var said json.RawMessage
	waits, err := v.call(c.operation, in, &said)
	if err != nil {
		return "", err
	}
	if waits || c.operation == "createProposal" {
		var proposal admin.ProposedActs
		err = json.Unmarshal(said, &proposal)
		return "/console/proposals/" + proposal.ProposalID, err
	}
	if c.operation == "createAdjustment" {
		var asked admin.Adjustment
		err = json.Unmarshal(said, &asked)
		return "/console/adjustments/" + asked.ID, err
	}
	text, err := json.Marshal(changed{a.Reference, p.says, said})
	return here + "/done/" + v.answers.keep(v.session, text), err
}

func (v *visit) inputOf(p plan) admin.Input {
	return admin.Input{Path: map[string]string{"reference": v.PathValue("reference"), "id": p.id}, Body: p.body}
}

// lookAtChange says what will happen. The sentences are made again from what was typed.
func lookAtChange(v *visit) (view, error) {
	c, a, err := v.askedChange()
	if err != nil {
		return view{}, err
	}
	text, there := v.answers.read(v.session, v.PathValue("n"))
	if !there {
		return view{}, errNothing
	}
	typed := url.Values{}
	if err := json.Unmarshal(text, &typed); err != nil {
		return view{}, err
	}
	p, err := c.plan(typedChange{typed, a, v.Environment == "live"})
	if err != nil {
		return view{}, err
	}
	was, err := v.API.Preview(v.Context(), v.by, c.operation, v.inputOf(p))
	return shown(c.title+" of "+a.Name, lookPage(v, a, c, typed, p, was)), err
}

// changed is what a change did.
type changed struct {
	Company string
	Says    []string
	Said    json.RawMessage
}

// secret returns what only this page shows, with its label: a key, or a token for the company.
func (c changed) secret() (label, text string) {
	if found := shownOnce(c.Said); len(found) > 0 {
		return found[0].label, found[0].value
	}
	return "", ""
}

// showChanged shows once what a change did. It may show a key, so nothing keeps it.
func showChanged(v *visit) (view, error) {
	c, a, err := v.askedChange()
	if err != nil {
		return view{}, err
	}
	text, there := v.answers.take(v.session, v.PathValue("n"))
	var done changed
	if there {
		err = json.Unmarshal(text, &done)
		there = done.Company == a.Reference
	}
	return shown(c.title+" of "+a.Name, changedPage(a, c, done, there)), err
}

func showNewCompany(v *visit) (view, error) {
	if !v.mayAdminister() {
		return view{}, fault.Newf(fault.Forbidden, "The role admin adds companies. Your role is %s.", v.by.Role)
	}
	return shown("New company", newCompanyPage(v)), nil
}

// addCompany adds a company, and leads to its onboarding. The company's first API key or key token is shown once
// on the page between.
func addCompany(v *visit) (string, error) {
	var said json.RawMessage
	name := strings.TrimSpace(v.PostForm.Get("name"))
	if _, err := v.call("createCompany", admin.Input{Body: admin.CompanyRequest{Name: name}}, &said); err != nil {
		return "", err
	}
	var made admin.CreatedCompany
	if err := json.Unmarshal(said, &made); err != nil {
		return "", err
	}
	text, err := json.Marshal(changed{made.Reference, []string{name + " is a company now. Its key works after its KYB is approved."}, said})
	return "/console/companies/" + url.PathEscape(made.Reference) + "/change/onboarding/done/" + v.answers.keep(v.session, text), err
}

// feesNow returns the fields of the fee schedule in force.
func (v *visit) feesNow() (url.Values, error) {
	var f admin.Fees
	_, err := v.call("findFees", admin.Input{Path: v.named()}, &f)
	out := url.Values{}
	for _, b := range f.Bands {
		for name, k := range map[string]money.Kobo{"from": b.From, "flat": b.Flat, "percent": b.Percent, "cap": b.Cap} {
			out.Add(name, k.Decimal())
		}
	}
	return out, err
}

// bandRows returns how many rows the form of a fee schedule has.
func bandRows(typed url.Values) int { return max(len(typed["from"])+2, 4) }

// at returns the value of a field that occurs several times.
func at(typed url.Values, name string, i int) string {
	if values := typed[name]; i < len(values) {
		return values[i]
	}
	return ""
}

func (c typedChange) text(name string) string { return strings.TrimSpace(c.Get(name)) }

// naira reads an amount, such as ₦18,250.50.
func (c typedChange) naira(name, label string) (money.Kobo, error) {
	return nairaOf(c.Get(name), label)
}

func (c typedChange) count(name, label string) (int64, error) {
	return countOf(c.Get(name), label)
}

// endOf reads a day in Lagos. It returns the instant of its end, or "".
func (c typedChange) endOf(name string) (string, error) {
	if c.text(name) == "" {
		return "", nil
	}
	day, err := time.ParseInLocation(time.DateOnly, c.text(name), clock.Lagos)
	if err != nil {
		return "", fault.New(fault.Invalid, "The last day must be a day, such as 2026-12-31.").Because(err)
	}
	return clock.Text(day.AddDate(0, 0, 1)), nil
}

// account returns the number of the settlement account that was chosen, and its words.
func (c typedChange) account() (id int64, words string, err error) {
	one := c.about.account(c.Get("account"))
	if one == nil {
		return 0, "", fault.New(fault.Missing, "Choose a settlement account.")
	}
	return one.ID, strconv.FormatInt(one.ID, 10) + " · " + one.Name, nil
}

// bands reads the rows of a fee schedule. An empty row counts for nothing.
func (c typedChange) bands() ([]admin.BandRequest, error) {
	out := []admin.BandRequest{}
	for i := range c.Values["from"] {
		if cmp.Or(at(c.Values, "from", i), at(c.Values, "flat", i), at(c.Values, "percent", i), at(c.Values, "cap", i)) == "" {
			continue
		}
		var b admin.BandRequest
		for _, f := range []struct {
			name, label string
			to          *money.Kobo
		}{{"from", "From", &b.From}, {"flat", "Flat", &b.Flat}, {"percent", "Percent", &b.Percent}, {"cap", "At most", &b.Cap}} {
			k, err := nairaOf(at(c.Values, f.name, i), f.label+" in row "+strconv.Itoa(i+1))
			if err != nil {
				return nil, err
			}
			*f.to = k
		}
		out = append(out, b)
	}
	return out, nil
}
