package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

func (c *console) settingRoutes() map[string]route {
	return map[string]route{
		"GET /app/live/{reference}":             {stream: streamThing, query: []string{"from"}},
		"GET /app/live/newer":                   {stream: streamNewer, query: newerQuery},
		"GET /app/settings":                     {show: showOwnTerms},
		"POST /app/settings/two-people":         {show: showApprovals, do: setTwoPeople, proof: recentProof},
		"POST /app/settings/payout-approval":    {show: showApprovals, do: setPayoutRule, proof: recentProof},
		"GET /app/settings/people":              {show: showCrew},
		"POST /app/settings/people/invite":      {show: showCrew, do: invitePerson, proof: recentProof},
		"GET /app/settings/people/invited/{n}":  {show: showInvitedPerson},
		"POST /app/settings/people/{id}/role":   {show: showCrew, do: setPersonRole, proof: recentProof},
		"POST /app/settings/people/{id}/remove": {show: showCrew, do: endPerson, proof: recentProof},
	}
}

// fees and limits as pages show them.
type ownTerms struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	KYB       string `json:"kybStatus"`
	Live      bool   `json:"live"`
	TwoPeople bool   `json:"twoPeople"`
	Fees      []band `json:"fees"`
	LimitsOf  limits `json:"limits"`
}

type band struct {
	From    money.Kobo `json:"from"`
	Flat    money.Kobo `json:"flat"`
	Percent money.Kobo `json:"percent"`
	Cap     money.Kobo `json:"cap"`
}

type limits struct {
	Payouts []struct {
		SettlementID *int64      `json:"settlementId"`
		Amount       *money.Kobo `json:"amount"`
		Payouts      *int64      `json:"payouts"`
		UsedAmount   money.Kobo  `json:"usedAmount"`
		UsedPayouts  int64       `json:"usedPayouts"`
	} `json:"payouts"`
	Quotas []struct {
		Kind string `json:"kind"`
		Most *int64 `json:"most"`
		Used int64  `json:"used"`
	} `json:"quotas"`
}

// words says what a band costs.
func (b band) words() string {
	out := "from " + naira(b.From) + ": " + naira(b.Flat)
	if b.Percent != 0 {
		out += " and " + b.Percent.Decimal() + " %"
	}
	if b.Cap != 0 {
		out += ", at most " + naira(b.Cap)
	}
	return out
}

func orNoLimit(n *int64) string {
	if n == nil {
		return "no limit"
	}
	return thousands(strconv.FormatInt(*n, 10))
}

func showOwnTerms(v *visit) (view, error) {
	var c one[ownTerms]
	_, err := v.ask("GET", "/api/v1/company", nil, &c)
	return view{title: "Settings", item: "settings", body: ownTermsPage(v, c.Data)}, err
}

func setTwoPeople(v *visit) (string, error) {
	_, err := v.ask("POST", "/api/v1/company/two-people", map[string]bool{"on": v.field("on") == "true"}, nil)
	return "/app/approvals", err
}

// open returns an error if the company may not use Kobo now. The people of a company are not asked for at its API.
// Nobody changes them while Kobo is closed.
func (v *visit) open() error {
	if v.Method == http.MethodPost && v.isClosed() {
		return errClosed
	}
	_, err := v.ask("GET", "/api/v1/company", nil, nil)
	return err
}

// exportsShown is how many files the page of the people lists.
const exportsShown = 20

// filterWords returns the filters of a file that somebody has taken. The value of a masked one is left out.
func filterWords(filters string) string {
	var out []string
	for pair := range strings.SplitSeq(filters, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		switch {
		case name == "":
			continue
		case strings.Contains(value, "$"): // the keyed hash of a text
			value = "masked"
		case name == "status":
			value = words(value)
		}
		out = append(out, actWords(name)+": "+inLagos(value))
	}
	return strings.Join(out, ", ")
}

func showCrew(v *visit) (view, error) {
	if err := v.open(); err != nil {
		return view{}, err
	}
	all, err := v.People.People(v.Context(), v.who.Company)
	if err != nil {
		return view{}, err
	}
	var taken []operator.Line
	if v.isOwner() {
		taken, err = v.People.Exports(v.Context(), v.who.Company, exportsShown)
	}
	return view{title: "People", item: "settings", body: crewPage(v, all, taken)}, err
}

// invitePerson makes a link for a new person of the company. Only this page ever shows the link.
func invitePerson(v *visit) (string, error) {
	if err := v.open(); err != nil {
		return "", err
	}
	token, digest := person.NewLink()
	i, err := v.People.InviteAs(v.Context(), v.who, v.field("name"), v.PostForm.Get("role"), digest)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(invited{Name: i.Person.Name, Link: v.origin() + "/app/link/" + v.who.Company + "/" + token.Reveal()})
	return "/app/settings/people/invited/" + v.answers.keep(v.session, text), err
}

func showInvitedPerson(v *visit) (view, error) {
	text, there := v.answers.take(v.session, v.PathValue("n"))
	if !there {
		return view{title: "Invitation", item: "settings", body: notShownPage("link", inviteAgain, "/app/settings/people")}, nil
	}
	var i invited
	err := json.Unmarshal(text, &i)
	return view{title: "Invitation", item: "settings", body: invitedPersonPage(i)}, err
}

func setPersonRole(v *visit) (string, error) {
	if err := v.open(); err != nil {
		return "", err
	}
	_, err := v.People.SetRoleAs(v.Context(), v.who, v.PathValue("id"), v.PostForm.Get("role"))
	return "/app/settings/people", err
}

func endPerson(v *visit) (string, error) {
	if err := v.open(); err != nil {
		return "", err
	}
	_, err := v.People.EndAs(v.Context(), v.who, v.PathValue("id"))
	return "/app/settings/people", err
}

// roleHelp says what people with a role may do.
func roleHelp(role string) string {
	switch role {
	case person.Owner:
		return "everything"
	case person.Finance:
		return "send money, cards, customers; reads all"
	case person.Developer:
		return "API keys and webhooks; freezes cards; reads all"
	}
	return "reads all"
}
