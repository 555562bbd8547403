package console

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// creditFilters are the filters of a company's credits, as in the address.
var creditFilters = []string{"after", "settlementId", "receiver", "from", "to", "period"}

func (c *console) creditRoutes() map[string]route {
	return map[string]route{
		"GET /app/money":      {show: showCredits, query: creditFilters},
		"GET /app/money.csv":  {download: exporting(exportCredits), query: creditFilters},
		"GET /app/money.xlsx": {download: exporting(exportCredits), query: creditFilters},
	}
}

// creditsAt is where the companies' API has each credit, whichever account received it.
const creditsAt = "/api/v1/settlement/credits"

// receiverChoices are the kinds of accounts that receive credits.
var receiverChoices = []choice{
	{"", "Any"},
	{report.ToCustomer, "Customers' accounts"},
	{report.ToVirtualAccount, "Virtual accounts"},
	{report.ToSettlement, "Your own accounts"},
}

// creditRow is a credit as pages show it.
type creditRow struct {
	ID            string     `json:"id"`
	Amount        money.Kobo `json:"amount"`
	Receiver      string     `json:"receiver"`
	SettlementID  int64      `json:"settlementId"`
	AccountNumber string     `json:"accountNumber"`
	Narration     string     `json:"narration"`
	SenderName    string     `json:"senderName"`
	SenderBank    string     `json:"senderBank"`
	SenderAccount string     `json:"senderAccount"`
	SessionID     string     `json:"sessionId"`
	CreatedAt     string     `json:"createdAt"`
	Customer      *struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	} `json:"customer"`
}

// customer returns the id of the customer who received the credit, or "".
func (r creditRow) customer() string {
	if r.Customer == nil {
		return ""
	}
	return r.Customer.ID
}

// named returns the credit with a word for the sender's bank in place of its code.
func (r creditRow) named(word func(code string) string) creditRow {
	r.SenderBank = word(r.SenderBank)
	return r
}

// sender returns who has paid.
func (r creditRow) sender() string { return joined(r.SenderName, r.SenderBank) }

// senderWithAccount returns who has paid, and from which account.
func (r creditRow) senderWithAccount() string { return joined(r.sender(), r.SenderAccount) }

// joined returns the parts that are there, with commas between them.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// receivedOn says which account received the credit. The names are those of the settlement accounts.
func (r creditRow) receivedOn(names accountNames) string {
	switch {
	case r.Customer != nil:
		return "Customer " + strings.TrimSpace(r.Customer.FirstName+" "+r.Customer.LastName)
	case r.Receiver == report.ToVirtualAccount:
		return "Virtual account " + r.AccountNumber
	}
	if r.AccountNumber == "" {
		return "Own account " + names.of(r.SettlementID)
	}
	return "Own account " + names.of(r.SettlementID) + ", " + r.AccountNumber
}

// accountNames are the names of the company's settlement accounts, by their numbers.
type accountNames []account

func (n accountNames) of(settlementID int64) string {
	for _, a := range n {
		if a.ID == settlementID {
			return a.Name
		}
	}
	return itoa(settlementID)
}

// choices are the settlement accounts, to choose one of them.
func (n accountNames) choices() []choice {
	out := []choice{{"", "All"}}
	for _, a := range n {
		out = append(out, choice{accountID(a), a.Name})
	}
	return out
}

// showCredits lists what came in, whichever account of the company received it.
func showCredits(v *visit) (view, error) {
	l, err := ownRows[creditRow](v, creditsAt)
	if err != nil {
		return view{}, err
	}
	accounts, err := v.settlementAccounts()
	if err != nil {
		return view{}, err
	}
	v.accounts = accounts
	t, err := creditTable(v, l)
	t.above = templ.Join(creditFilterForm(v), downloadBar(v, creditTabs[0].path))
	return t.view(v), err
}

// customerCredits returns the page of a customer's credits.
func customerCredits(v *visit, customer string) (table, error) {
	l, err := ownRows[creditRow](v, "/api/v1/transaction/", "customerId", customer)
	if err != nil {
		return table{}, err
	}
	return creditTable(v, l)
}

// creditTable returns credits as a table with the columns that the person has chosen.
func creditTable(v *visit, l pageOfOwn[creditRow]) (table, error) {
	t := table{
		title: "Credits", item: "money", tabs: creditTabs, tab: creditTabs[0].path, next: l.next,
		nothing: "Nobody has paid your company yet. Each credit stands here: on your customers' accounts, on virtual accounts and on your own accounts.",
		other:   pageTab{"All that changes your balances: the ledger", creditTabs[2].path},
	}
	banks, err := v.bankBook()
	if err != nil {
		return t, err
	}
	for _, r := range l.rows {
		r = r.named(banks.word)
		t.rows = append(t.rows, []cell{
			time_(r.CreatedAt), text(r.sender()), text(r.receivedOn(v.accounts)), sum(r.Amount), text(r.Narration), reference(r.SessionID), reference(r.customer()), link(ending(r.ID), "/app/p/"+r.ID),
		})
	}
	return t.choosing(v, creditTabs[0].path)
}

// creditOf returns what a bank has reported under a reference. Money that operators have booked has no such report, and the answer is nil.
func (v *visit) creditOf(reference string) (*creditRow, error) {
	var c one[creditRow]
	_, err := v.ask("GET", creditsAt+"/"+url.PathEscape(reference), nil, &c)
	if fault.Is(err, fault.Missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	banks, err := v.bankBook()
	if err != nil {
		return nil, err
	}
	named := c.Data.named(banks.wordWithCode)
	v.accounts, err = v.settlementAccounts()
	return &named, err
}

// exportCredits sends all credits of the company that pass the filters.
func exportCredits(v *visit) error {
	accounts, err := v.settlementAccounts()
	if err != nil {
		return err
	}
	banks, err := v.bankBook()
	if err != nil {
		return err
	}
	head := []string{"Time (Lagos)", "Time (UTC)", "From", "Bank", "Received on", "Account", "Amount", "Narration", "Session id", "Customer", "Reference"}
	return v.sendSheet("credits", head, func(write func(row ...string) error) error {
		return eachOf(v, creditsAt, func(c creditRow) error {
			c = c.named(banks.word)
			there, utc := inBoth(c.CreatedAt)
			return write(there, utc, c.SenderName, c.SenderBank, c.receiverWord(accounts), c.AccountNumber, c.Amount.Decimal(), c.Narration, c.SessionID, c.customer(), c.ID)
		})
	})
}

// receiverWord says which account received the credit, without its number.
func (r creditRow) receiverWord(names accountNames) string {
	return strings.TrimSuffix(strings.TrimSuffix(r.receivedOn(names), r.AccountNumber), ", ")
}
