package console

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

func (c *console) homeRoutes() map[string]route {
	return map[string]route{"GET /app/home": {show: showHome}}
}

// account is a settlement account as pages show it.
type account struct {
	ID            int64      `json:"id"`
	Name          string     `json:"name"`
	AccountNumber *string    `json:"accountNumber"`
	BankName      *string    `json:"bankName"`
	Balance       money.Kobo `json:"balance"`
	Status        string     `json:"status"`
	IsDefault     bool       `json:"isDefault"`
}

// isOff reports whether operators have switched the account off. It then neither pays nor takes money.
func (a account) isOff() bool { return a.Status == "INACTIVE" }

// choiceWords names the account where somebody chooses one.
func (a account) choiceWords() string {
	if a.isOff() {
		return a.Name + ": switched off by Kobo’s operator"
	}
	return a.Name + ": " + naira(a.Balance)
}

// isCalm reports whether nothing needs anybody.
func (h home) isCalm() bool {
	return len(h.approvals)+len(h.unknown)+len(h.doubtful)+len(h.failing)+len(h.off) == 0 && h.kyb == nil && h.pin == "SET"
}

// endpoint is a webhook endpoint as pages show it.
type endpoint struct {
	ID           string   `json:"id"`
	URL          string   `json:"url"`
	Description  *string  `json:"description"`
	Events       []string `json:"events"`
	Status       string   `json:"status"`
	FailingSince *string  `json:"failingSince"`
	CreatedAt    string   `json:"createdAt"`
}

// home is the first page of a company.
type home struct {
	company   api.Company
	accounts  []account
	unknown   []api.Outcome
	doubtful  []api.Outcome // contradicted outcomes, of which operators have not decided
	more      int           // unknown outcomes that the page does not show
	approvals []api.Approval
	failing   []endpoint
	kyb       *verification // nil unless the company must do something for its verification
	pin       string        // the state of the transaction PIN
	off       []account     // those that operators have switched off
	chart     accountDays   // of the first settlement account
}

// accountDays are the balances of a settlement account of the last days, and what came in and went out.
type accountDays struct {
	account account
	days    []dayBalance
	flows   []report.DayFlow
	isWhole bool // the flows have all days
}

// chartDays is the number of days of the charts of an account.
const chartDays = 30

// flowToday is what came in and went out on the running day.
func (d accountDays) flowToday() (f report.DayFlow) {
	if n := len(d.flows); n > 0 {
		f = d.flows[n-1]
	}
	return f
}

// dayAt returns the entries of the account on a day.
func (d accountDays) dayAt(day time.Time) string {
	on := day.In(lagos).Format(time.DateOnly)
	return "/app/money/ledger?" + url.Values{"settlementId": {accountID(d.account)}, "from": {on}, "to": {on}}.Encode()
}

type dayBalance struct{ api.DayBalance }

// at returns the beginning of the day.
func (d dayBalance) at() time.Time {
	at, _ := time.ParseInLocation(time.DateOnly, d.Day, lagos) // the API has written it
	return at
}

func balancesOf(v *visit, a account) (accountDays, error) {
	var days one[[]dayBalance]
	if _, err := v.ask("GET", "/api/v1/settlement/accounts/"+accountID(a)+"/balances?days="+strconv.Itoa(chartDays), nil, &days); err != nil {
		return accountDays{}, err
	}
	flows, isWhole, err := v.Reports.DayFlows(v.Context(), v.who.Company, a.ID, chartDays)
	return accountDays{a, days.Data, flows, isWhole}, err
}

// rank orders open operations, the worst first: those that people decide, those without a known outcome, and those that the provider has accepted.
func rank(o api.Outcome) int {
	switch {
	case o.NeedsDecision:
		return 0
	case isAccepted(o):
		return 2
	}
	return 1
}

func showHome(v *visit) (view, error) {
	var h home
	var company one[api.Company]
	var accounts one[[]account]
	var unknown listOf[api.Outcome]
	var approvals listOf[api.Approval]
	var endpoints one[[]endpoint]
	for _, r := range []struct {
		path string
		out  any
	}{
		{"/api/v1/company", &company},
		{"/api/v1/settlement/accounts", &accounts},
		{"/api/v1/outcomes?pageSize=5", &unknown},
		{"/api/v1/company/approvals?waiting=true&pageSize=20", &approvals},
		{"/api/v1/webhooks", &endpoints},
	} {
		if _, err := v.ask("GET", r.path, nil, r.out); err != nil {
			return view{}, err
		}
	}
	h.company, h.accounts, h.unknown, h.approvals = company.Data, accounts.Data, unknown.Data.Data, approvals.Data.Data
	h.more = unknown.Data.Meta.TotalItems - len(h.unknown)
	slices.SortStableFunc(h.unknown, func(a, b api.Outcome) int { return rank(a) - rank(b) })
	for _, e := range endpoints.Data {
		if e.Status == "FAILING" {
			h.failing = append(h.failing, e)
		}
	}
	var err error
	if h.pin, err = v.PINState(v.Context(), v.who.Company); err != nil {
		return view{}, err
	}
	doubtful, err := v.Reports.InDoubt(v.Context(), v.who.Company)
	if err != nil {
		return view{}, err
	}
	for _, o := range doubtful {
		h.doubtful = append(h.doubtful, api.OutcomeOf(o))
	}
	h.off = slices.DeleteFunc(slices.Clone(h.accounts), func(a account) bool { return !a.isOff() })
	if y := (verification{state: h.company.KybStatus}); y.needsTheCompany() {
		if y.reason, err = v.reasonOf(y); err != nil {
			return view{}, err
		}
		h.kyb = &y
	}
	if len(h.accounts) > 0 {
		if h.chart, err = balancesOf(v, h.accounts[0]); err != nil {
			return view{}, err
		}
	}
	return view{title: "Home", item: "home", body: homePage(v, h)}, nil
}
