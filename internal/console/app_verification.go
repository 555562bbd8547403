package console

import (
	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

// verificationAt is the page that says why the API is closed to a company, and who acts next.
const verificationAt = "/app/settings/verification"

// isKeptOut reports whether the API refuses a person because the company is not verified, or is switched off.
func (v *visit) isKeptOut(err error) bool {
	if !v.isForCompanies() || err == nil {
		return false
	}
	reason := fault.Of(err).Reason()
	return reason == fault.KYBRequired || reason == fault.CompanyDeactivated
}

// verification is how far the company is, and what it lacks.
type verification struct {
	state    string // of the business verification
	reason   string // what Kobo's operator has written at the last change, or ""
	isOff    bool   // the company is switched off
	isOpen   bool   // the company may use the API, so the tasks are known
	tasks    []task
	accounts []account
}

// task is something that a company needs before money moves.
type task struct {
	label, help, href string
	done              bool
}

// showVerification shows the state of the business verification. It is the one page of the settings that also a company
// sees whose API is closed.
func showVerification(v *visit) (view, error) {
	y, err := v.verification()
	if err == nil {
		y.reason, err = v.reasonOf(y)
	}
	return view{title: "Verification", item: "settings", body: verificationPage(v, y)}, err
}

// reasonOf returns what Kobo's operator has written when the verification changed last. It is what the event
// company.kyb_changed tells, which a company whose API is closed cannot read.
func (v *visit) reasonOf(y verification) (string, error) {
	if y.state != "CHANGES_REQUESTED" && y.state != "REJECTED" {
		return "", nil
	}
	lines, _, err := v.Operators.SearchAudit(v.Context(), operator.AuditFilter{Company: v.who.Company, Action: "company.kyb"}, 1, 0)
	if err != nil || len(lines) == 0 || lines[0].Details["status"] != y.state {
		return "", err
	}
	return lines[0].Details["reason"], nil
}

func (v *visit) verification() (y verification, err error) {
	var c one[api.Company]
	_, err = v.ask("GET", "/api/v1/company", nil, &c)
	if why := fault.Of(err); why != nil && (why.Reason() == fault.KYBRequired || why.Reason() == fault.CompanyDeactivated) {
		y.state, _ = why.Extra[kybOf].(string)
		y.isOff = why.Reason() == fault.CompanyDeactivated
		return y, nil
	}
	if err != nil {
		return y, err
	}
	y.state, y.isOpen = c.Data.KybStatus, true
	if y.accounts, err = v.settlementAccounts(); err != nil {
		return y, err
	}
	var endpoints one[[]endpoint]
	if _, err = v.ask("GET", "/api/v1/webhooks", nil, &endpoints); err != nil {
		return y, err
	}
	pin, err := v.PINState(v.Context(), v.who.Company)
	if err != nil {
		return y, err
	}
	people, err := v.People.People(v.Context(), v.who.Company)
	y.tasks = tasksOf(y.accounts, len(endpoints.Data), len(people), pin != "NOT_SET")
	return y, err
}

// tasksOf returns what a company needs, with what is done of it.
func tasksOf(accounts []account, endpoints, people int, hasPIN bool) []task {
	fed := 0
	for _, a := range accounts {
		if a.AccountNumber != nil && *a.AccountNumber != "" {
			fed++
		}
	}
	return []task{
		{"A settlement account", "It holds the money of your company.", "/app/money/transfer", len(accounts) > 0},
		{"A bank account that feeds it", "A signatory proves the identity with a one-time code, by the API (corporate KYC). Or Kobo's operator attaches the account.", "", fed > 0},
		{"A transaction PIN", "Payouts, cards and API keys need it. Kobo's operator gives you a token, with which an owner sets it.", "/app/settings/pin", hasPIN},
		{"A second person", "One person who loses the passkey is nobody. Payouts can also require two people.", "/app/settings/people", people > 1},
		{"A webhook endpoint", "Your program learns by events what has happened.", "/app/developers/webhooks", endpoints > 0},
	}
}

// chip returns the chip of the state.
func (y verification) chip() (kind, word string) {
	switch y.state {
	case "APPROVED":
		return "ok", "Approved"
	case "REJECTED":
		return "failed", "Rejected"
	case "CHANGES_REQUESTED":
		return "unknown", sentence(words(y.state))
	case "SUBMITTED":
		return "wait", sentence(words(y.state))
	}
	return "idle", sentence(words(y.state))
}

// needsTheCompany reports whether the company acts next. Only a company whose API is open sees it at its home page.
func (y verification) needsTheCompany() bool { return y.state == "CHANGES_REQUESTED" }

// sentence says what the state means, and who acts next.
func (y verification) sentence() string {
	switch {
	case y.isOff:
		return "Your business is verified. Kobo's operator has switched the company off, so the API refuses its requests. Ask the operator."
	case y.state == "APPROVED":
		return "Your business is verified."
	case y.state == "REJECTED":
		return "Kobo's operator has rejected the verification. The API is closed. Ask the operator how to begin again."
	case y.state == "CHANGES_REQUESTED":
		return "Kobo's operator needs something changed. The API stays open meanwhile."
	case y.state == "SUBMITTED":
		return "Kobo's operator checks what you have sent. There is nothing for you to do now. The API opens when it is approved."
	case y.state == "IN_PROGRESS":
		return "The verification has begun. Send Kobo's operator the papers of your business. The API opens when it is approved."
	}
	return "The verification has not begun. Send Kobo's operator the papers of your business. The API opens when it is approved."
}
