package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/money"
)

// pageTab is a page of an item of the menu.
type pageTab struct{ label, path string }

var (
	creditTabs    = []pageTab{{"Credits", "/app/money"}, {"Virtual accounts", "/app/money/virtual-accounts"}, {"Ledger", "/app/money/ledger"}}
	serviceTabs   = []pageTab{{"Cards", "/app/services"}, {"Purchases", "/app/services/purchases"}, {"Crypto", "/app/services/crypto"}}
	developerTabs = []pageTab{{"API keys", "/app/developers"}, {"Requests", "/app/developers/requests"}, {"Events", "/app/developers/events"}, {"Webhooks", "/app/developers/webhooks"}}
	settingTabs   = []pageTab{
		{"Company", "/app/settings"},
		{"Verification", "/app/settings/verification"},
		{"People", "/app/settings/people"},
		{"Approvals", "/app/approvals"},
		{"Proof", "/app/settings/proof"},
		{"My sign-in", "/app/me"},
	}
)

func (c *console) listRoutes() map[string]route {
	paged := []string{"after"}
	dated := []string{"after", "from", "to", "period"}
	stated := append([]string{"status"}, dated...)
	return map[string]route{
		"GET /app/services/purchases.csv":  {download: exporting(exportPurchases), query: stated},
		"GET /app/services/purchases.xlsx": {download: exporting(exportPurchases), query: stated},
		"GET /app/money/virtual-accounts":  {show: showOwnVirtualAccounts, query: paged},
		"GET /app/money/ledger":            {show: showLedger, query: append(dated, "settlementId")},
		"GET /app/money/statement":         {download: downloadStatement, query: []string{"settlementId", "from", "to", "format"}},
		"GET /app/customers":               {show: showOwnCustomers, query: paged},
		"GET /app/customers/{id}":          {show: showOwnCustomer, query: paged},
		"GET /app/services":                {show: showOwnCards, query: paged},
		"GET /app/services/purchases":      {show: showPurchases, query: stated},
		"GET /app/services/crypto":         {show: showDeposits, query: stated},
		"GET /app/developers/requests":     {show: showRequests, query: []string{"requestId", "idempotencyKey", "status", "method", "from", "to", "period", "after"}},
		"GET /app/developers/events":       {show: showOwnEvents, query: []string{"after"}},
		"GET /app/developers/events/{id}":  {show: showOwnEvent},
	}
}

// showOwnVirtualAccounts lists the accounts that were made for one payment each.
func showOwnVirtualAccounts(v *visit) (view, error) {
	type row struct {
		ID            string     `json:"virtual_trx_id"`
		AccountNumber string     `json:"accountNumber"`
		AccountName   string     `json:"accountName"`
		Amount        money.Kobo `json:"amount"`
		Status        string     `json:"status"`
		CreatedAt     string     `json:"createdAt"`
	}
	l, err := ownRows[row](v, "/api/v1/virtual-account/")
	t := table{
		title: "Virtual accounts", item: "money", tabs: creditTabs, tab: creditTabs[1].path, next: l.next,
		head: []string{"Time", "Account", "Name", "Amount", "State", "Reference"}, nothing: "There is no virtual account yet. “New virtual account” or your program makes one for a payment that you expect.", above: virtualAccountButton(v),
	}
	for _, r := range l.rows {
		kind, word := virtualAccountChip(r.Status)
		t.rows = append(t.rows, []cell{time_(r.CreatedAt), text(r.AccountNumber), text(r.AccountName), sum(r.Amount), state(kind, word), link(ending(r.ID), "/app/p/"+r.ID)})
	}
	return t.view(v), err
}

// storied are the sources of ledger entries whose reference has a page of its own.
var storied = []string{"payout", "vtu", "card", "credit", "collection", "transfer", "adjustment"}

// downloadStatement sends the statement of a settlement account as a file.
func downloadStatement(v *visit) error {
	return v.deliver("/api/v1/settlement/statement"+v.asked(), func() error { return v.noteExport("statement."+fileName(v.filter("format", "json")), v.URL.RawQuery) })
}

// showLedger lists the entries of the settlement accounts.
func showLedger(v *visit) (view, error) {
	type row struct {
		Reference    string     `json:"reference"`
		Amount       money.Kobo `json:"amount"`
		Type         string     `json:"type"`
		Balance      money.Kobo `json:"current_balance"`
		Source       string     `json:"source"`
		Narration    string     `json:"narration"`
		CreatedAt    string     `json:"createdAt"`
		SettlementID int64      `json:"settlementId"`
		Fee          money.Kobo `json:"fee"`
		SessionID    string     `json:"sessionId"`
		OwnReference string     `json:"externalReference"`
	}
	l, err := ownRows[row](v, "/api/v1/settlement/transaction")
	if err != nil {
		return view{}, err
	}
	accounts, err := v.settlementAccounts()
	if err != nil {
		return view{}, err
	}
	var chart accountDays
	if i := slices.IndexFunc(accounts, func(a account) bool { return accountID(a) == v.filter("settlementId", "") }); i >= 0 {
		if chart, err = balancesOf(v, accounts[i]); err != nil {
			return view{}, err
		}
	}
	t := table{
		above: ledgerHead(v, accounts, chart),
		title: "Ledger", item: "money", tabs: creditTabs, tab: creditTabs[2].path, next: l.next,
		nothing: "There is no entry yet.",
	}
	for _, r := range l.rows {
		in, out := cell{sum: true}, sum(r.Amount)
		if r.Type == "credit" {
			in, out = out, in
		}
		of := reference(r.Reference)
		if slices.Contains(storied, r.Source) {
			of = link(ending(r.Reference), "/app/p/"+r.Reference)
		}
		t.rows = append(t.rows, []cell{
			time_(r.CreatedAt), text(r.Narration), in, out, sum(r.Fee), sum(r.Balance), text(kindWord(words(r.Source))), reference(r.SessionID), reference(r.OwnReference), of,
		})
	}
	t, err = t.choosing(v, creditTabs[2].path)
	return t.view(v), err
}

func showOwnCustomers(v *visit) (view, error) {
	type row struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
		Status    string `json:"status"`
		CreatedAt string `json:"createdAt"`
	}
	l, err := ownRows[row](v, "/api/v1/customer/")
	t := table{
		title: "Customers", item: "customers", next: l.next, head: []string{"Since", "Name", "State", "Reference"},
		nothing: "There is no customer yet. “New customer” makes one, and so does your program with POST /api/v1/customer/create.", above: customerButton(v),
	}
	for _, r := range l.rows {
		name := link(r.FirstName+" "+r.LastName, "/app/customers/"+r.ID)
		t.rows = append(t.rows, []cell{time_(r.CreatedAt), name, state(customerChip(r.Status)), reference(r.ID)})
	}
	return t.view(v), err
}

// ownCustomer is a customer with the bank account, if there is one.
type ownCustomer struct {
	ID          string  `json:"id"`
	FirstName   string  `json:"firstName"`
	LastName    string  `json:"lastName"`
	Email       string  `json:"email"`
	PhoneNumber string  `json:"phoneNumber"`
	Status      string  `json:"status"`
	NameMatch   *string `json:"nameMatch"`
	CreatedAt   string  `json:"createdAt"`
	BankAccount *struct {
		AccountNumber string `json:"accountNumber"`
		AccountName   string `json:"accountName"`
		BankName      string `json:"bankName"`
	} `json:"bankAccount"`
}

// showOwnCustomer shows a customer, with what has arrived on the account.
func showOwnCustomer(v *visit) (view, error) {
	var c one[ownCustomer]
	if _, err := v.ask("GET", "/api/v1/customer/"+url.PathEscape(v.PathValue("id")), nil, &c); err != nil {
		return view{}, err
	}
	accounts, err := v.settlementAccounts()
	if err != nil {
		return view{}, err
	}
	t, err := customerCredits(v, c.Data.ID)
	if err != nil {
		return view{}, err
	}
	t.title, t.item, t.above = c.Data.FirstName+" "+c.Data.LastName, "customers", templ.Join(customerFacts(v, c.Data), customerAccountForm(v, c.Data, accounts))
	t.tabs, t.nothing = nil, "Nothing has arrived on the account of this customer yet."
	page := t.view(v)
	page.thing = "Customer " + ending(c.Data.ID)
	return page, nil
}

func showOwnCards(v *visit) (view, error) {
	type row struct {
		ID        string `json:"id"`
		Brand     string `json:"brand"`
		Type      string `json:"type"`
		Status    string `json:"status"`
		MaskedPan string `json:"maskedPan"`
		CreatedAt string `json:"createdAt"`
	}
	l, err := ownRows[row](v, "/api/v1/card/")
	if err != nil {
		return view{}, err
	}
	open, err := v.openFundings()
	t := table{
		title: "Cards", item: "services", tabs: serviceTabs, tab: serviceTabs[0].path, next: l.next,
		head: []string{"Since", "Card", "Kind", "State", "Reference"}, nothing: "There is no card yet.", above: templ.Join(cardButton(v), openFundings(v, open)),
	}
	for _, r := range l.rows {
		kind, word := ownCardChip(r.Status)
		t.rows = append(t.rows, []cell{time_(r.CreatedAt), text(strings.TrimSpace(r.Brand + " " + r.MaskedPan)), text(sentence(words(r.Type))), state(kind, word), link(ending(r.ID), "/app/services/cards/"+r.ID)})
	}
	return t.view(v), err
}

// showRequests lists what the company's programs and people have sent.
func showRequests(v *visit) (view, error) {
	type row struct {
		CreatedAt      string  `json:"createdAt"`
		Method         string  `json:"method"`
		Path           string  `json:"path"`
		Status         int     `json:"status"`
		Reason         *string `json:"reason"`
		DurationMs     int     `json:"durationMs"`
		RequestID      string  `json:"requestId"`
		IdempotencyKey *string `json:"idempotencyKey"`
		APIKeyID       *string `json:"apiKeyId"`
		APIKeyEnding   *string `json:"apiKeyEnding"`
		SourceAddress  string  `json:"sourceAddress"`
	}
	l, err := ownRowsByCursor[row](v, "/api/v1/request-log")
	t := table{
		title: "Requests", item: "developers", tabs: developerTabs, tab: developerTabs[1].path,
		head: []string{"Time", "Request", "Answer", "Took", "From", "Request id"}, nothing: "No request of the last 30 days.", above: requestFilters(v), next: l.next,
	}
	for _, r := range l.rows {
		kind, from := "ok", r.SourceAddress
		if r.Status >= 500 {
			kind = "failed"
		} else if r.Status >= 400 {
			kind = "idle"
		}
		if name, isPerson := cutPrefix(optional(r.APIKeyID), "person:"); isPerson {
			from += " (" + name + ")"
		} else if end := optional(r.APIKeyEnding); end != "" {
			from += " (key …" + end + ")"
		}
		answer := state(kind, strconv.Itoa(r.Status))
		answer.note = optional(r.Reason)
		t.rows = append(t.rows, []cell{time_(r.CreatedAt), {text: r.Method + " " + r.Path, code: true, one: true}, answer, {text: strconv.Itoa(r.DurationMs) + " ms", one: true}, {text: from, one: true}, reference(r.RequestID)})
	}
	return t.view(v), err
}

// stateChip returns the chip of a state on the wire. The words are those of the operators' pages.
func stateChip(state string) (kind, word string) {
	switch strings.ToUpper(state) {
	case "SUCCESS", "COMPLETED", "ACTIVE", "PAID", "APPROVED":
		return "ok", sentence(words(state))
	case "PENDING":
		return "unknown", "Not known yet"
	case "FAILED":
		return "failed", "Failed, refunded"
	case "REVERSED":
		return "reversed", "Reversed, refunded"
	case "WAITING", "CONFIRMING":
		return "wait", sentence(words(state))
	}
	return "idle", sentence(words(state))
}

// customerChip returns the chip of a customer, who is active once the one-time code was given.
func customerChip(status string) (kind, word string) {
	if status == "PENDING_OTP" {
		return "wait", "Waiting for the one-time code"
	}
	return activeChip(status), sentence(words(status))
}

func accountID(a account) string { return strconv.FormatInt(a.ID, 10) }
