package console

import (
	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/money"
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
	more      int // unknown outcomes that the page does not show
	approvals []api.Approval
	failing   []endpoint
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
		{"/api/v1/outcomes?pageSize=20", &unknown},
		{"/api/v1/company/approvals?waiting=true&pageSize=20", &approvals},
		{"/api/v1/webhooks", &endpoints},
	} {
		if _, err := v.ask("GET", r.path, nil, r.out); err != nil {
			return view{}, err
		}
	}
	h.company, h.accounts, h.unknown, h.approvals = company.Data, accounts.Data, unknown.Data.Data, approvals.Data.Data
	h.more = unknown.Data.Meta.TotalItems - len(h.unknown)
	for _, e := range endpoints.Data {
		if e.Status == "FAILING" {
			h.failing = append(h.failing, e)
		}
	}
	return view{title: "Home", item: "home", body: homePage(v, h)}, nil
}

// approvalWords says what waits.
func approvalWords(a api.Approval) string {
	switch a.Kind {
	case "ISSUE_API_KEY":
		if name := optional(a.Name); name != "" {
			return "New API key “" + name + "”"
		}
		return "New API key"
	case "REVOKE_API_KEY":
		return "Revoke the API key " + ending(optional(a.APIKeyID))
	}
	return "Require two people no longer"
}

// approvalChip returns the chip of an approval's state.
func approvalChip(state string) (kind, word string) {
	switch state {
	case "WAITING":
		return "propose", "Waiting for approval"
	case "APPROVED":
		return "ok", "Approved"
	}
	return "idle", sentence(words(state))
}

// authorWords names who asked or decided.
func authorWords(by string) string {
	if name, isPerson := cutPrefix(by, "person:"); isPerson {
		return name
	}
	if key, isKey := cutPrefix(by, "key:"); isKey {
		return "a program with the API key " + ending(key)
	}
	return by
}
