package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

func (c *console) payoutRoutes() map[string]route {
	return map[string]route{
		"GET /app/payouts":                   {show: showPayouts, query: []string{"page", "status", "from", "to", "externalReference"}},
		"GET /app/payouts/new":               {show: showNewPayout},
		"POST /app/payouts/check":            {show: showNewPayout, do: checkPayout, proof: true},
		"GET /app/payouts/confirm/{n}":       {show: showConfirm},
		"POST /app/payouts/confirm/{n}":      {show: showConfirm, do: sendPayout, proof: true},
		"GET /app/payouts/bulk":              {show: showBulks, query: []string{"cursor"}},
		"GET /app/payouts/bulk/new":          {show: showNewBulk},
		"POST /app/payouts/bulk/new":         {show: showNewBulk, do: openBulk, proof: true},
		"GET /app/payouts/bulk/{id}":         {show: showBulk, query: []string{"after"}},
		"POST /app/payouts/bulk/{id}/send":   {show: showBulk, do: confirmBulk, proof: true},
		"POST /app/payouts/bulk/{id}/cancel": {show: showBulk, do: cancelBulk},
		"GET /app/p/{reference}":             {show: showThing},
	}
}

var payoutTabs = []pageTab{{"Payouts", "/app/payouts"}, {"Bulk payouts", "/app/payouts/bulk"}}

// payoutRow is a payout as pages show it.
type payoutRow struct {
	Reference     string     `json:"reference"`
	Amount        money.Kobo `json:"amount"`
	Fee           money.Kobo `json:"fee"`
	Status        string     `json:"status"`
	AccountName   string     `json:"account_name"`
	AccountNumber string     `json:"account_number"`
	BankName      *string    `json:"bank_name"`
	Narration     *string    `json:"narration"`
	SessionID     *string    `json:"sessionId"`
	FailureReason *string    `json:"failureReason"`
	OwnReference  *string    `json:"externalReference"`
	CreatedAt     string     `json:"createdAt"`
	CompletedAt   *string    `json:"completedAt"`
}

// payoutChip returns the chip of a payout.
func payoutChip(status string) (kind, word string) {
	if status == "SUCCESS" {
		return "ok", "Paid"
	}
	return stateChip(status)
}

func showPayouts(v *visit) (view, error) {
	var l listOf[payoutRow]
	if _, err := v.ask("GET", "/api/v1/settlement/payouts"+v.asked(), nil, &l); err != nil {
		return view{}, err
	}
	t := table{
		title: "Payouts", item: "payouts", tabs: payoutTabs, tab: payoutTabs[0].path, meta: l.Data.Meta, above: payoutFilters(v),
		head: []string{"Time", "To", "Amount", "Fee", "State", "Reference"}, nothing: "Nothing has been paid out yet.",
	}
	for _, p := range l.Data.Data {
		kind, word := payoutChip(p.Status)
		t.rows = append(t.rows, []cell{time_(p.CreatedAt), text(p.AccountName + ", " + optional(p.BankName)), sum(p.Amount), sum(p.Fee), state(kind, word), link(ending(p.Reference), "/app/p/"+p.Reference)})
	}
	return t.view(v), nil
}

// sources are what a payout needs before it can be typed.
type sources struct {
	accounts []account
	banks    []bank
}

type bank struct {
	Name string `json:"name"`
	Code string `json:"code"`
}

func (v *visit) sources() (s sources, err error) {
	var accounts one[[]account]
	if _, err = v.ask("GET", "/api/v1/settlement/accounts", nil, &accounts); err != nil {
		return s, err
	}
	var banks one[[]bank]
	_, err = v.ask("GET", "/api/v1/settlement/banks", nil, &banks)
	return sources{accounts.Data, banks.Data}, err
}

func showNewPayout(v *visit) (view, error) {
	s, err := v.sources()
	return view{title: "New payout", item: "payouts", body: newPayoutPage(v, s)}, err
}

// draft is a payout whose account has been asked for, and which has not been sent.
type draft struct {
	VerifyID, Name, Account string
	Amount                  json.Number
	Narration, OwnReference string `json:",omitempty"`
}

// body is the request that sends the payout.
func (d draft) body() map[string]any {
	out := map[string]any{"verify_id": d.VerifyID, "amount": d.Amount}
	if d.Narration != "" {
		out["narration"] = d.Narration
	}
	if d.OwnReference != "" {
		out["externalReference"] = d.OwnReference
	}
	return out
}

// checkPayout asks the bank for the name of the account. Nothing is sent before the person has seen the name.
func checkPayout(v *visit) (string, error) {
	amount, err := number(v.field("amount"))
	if err != nil {
		return "", err
	}
	from, err := strconv.ParseInt(v.field("fromSettlementId"), 10, 64)
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose the account that pays").Because(err)
	}
	var named one[struct {
		ID            string `json:"id"`
		AccountName   string `json:"account_name"`
		AccountNumber string `json:"account_number"`
	}]
	_, err = v.ask("POST", "/api/v1/settlement/validate-account", map[string]any{
		"bank_code": v.field("bank_code"), "account_number": v.field("account_number"), "fromSettlementId": from, "pin": v.PostForm.Get("pin"),
	}, &named)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(draft{named.Data.ID, named.Data.AccountName, named.Data.AccountNumber, amount, v.field("narration"), v.field("externalReference")})
	return "/app/payouts/confirm/" + v.answers.keep(v.session, text), err
}

// draft returns the payout of the address, until it is five minutes old.
func (v *visit) draft() (d draft, err error) {
	text, there := v.answers.read(v.session, v.PathValue("n"))
	if !there {
		return d, fault.New(fault.Missing, "This page is too old. Ask for the account's name again; nothing was sent.")
	}
	return d, json.Unmarshal(text, &d)
}

// preview is what a payout would do.
type preview struct {
	WouldSucceed bool       `json:"wouldSucceed"`
	Refusal      *string    `json:"refusal"`
	Fee          money.Kobo `json:"fee"`
	Total        money.Kobo `json:"total"`
	BalanceAfter money.Kobo `json:"balanceAfter"`
}

func showConfirm(v *visit) (view, error) {
	d, err := v.draft()
	if err != nil {
		return view{}, err
	}
	var p one[preview]
	if v.problem == nil {
		// The preview is no act, so it does not use the number of the form.
		if _, err := v.ask("POST", "/api/v1/settlement/send-payout?dry_run=true", d.body(), &p); err != nil {
			return view{}, err
		}
	}
	amount, err := money.Parse(d.Amount.String())
	return view{title: "Confirm the payout", item: "payouts", body: confirmPage(v, d, amount, p.Data)}, err
}

func sendPayout(v *visit) (string, error) {
	d, err := v.draft()
	if err != nil {
		return "", err
	}
	var sent one[payoutRow]
	_, err = v.ask("POST", "/api/v1/settlement/send-payout", d.body(), &sent)
	return "/app/p/" + sent.Data.Reference, err
}

// thing is an operation of the company, with the payout if it is one.
type thing struct {
	api.Outcome
	payout *payoutRow
}

func showThing(v *visit) (view, error) {
	reference := url.PathEscape(v.PathValue("reference"))
	var o one[api.Outcome]
	if _, err := v.ask("GET", "/api/v1/outcomes/"+reference, nil, &o); err != nil {
		return view{}, err
	}
	t := thing{Outcome: o.Data}
	if t.Type == "payout" {
		var p one[payoutRow]
		if _, err := v.ask("GET", "/api/v1/settlement/payout-status/"+reference, nil, &p); err != nil {
			return view{}, err
		}
		t.payout = &p.Data
	}
	item := "payouts"
	if t.payout == nil {
		item = "services"
	}
	return view{title: sentence(words(t.Type)) + " " + ending(t.Reference), item: item, body: thingPage(v, t)}, nil
}

// chip returns the chip of the operation.
func (t thing) chip(v *visit) (kind, word string) {
	switch {
	case t.Status == "PENDING" && t.NeedsDecision:
		return "case", "Case"
	case t.Status == "PENDING":
		return "unknown", "Unknown for " + age(v.now().Sub(instant(t.CreatedAt)))
	case t.Status == "SUCCESS" && t.payout == nil:
		return "ok", "Done"
	}
	return payoutChip(t.Status)
}

// sentenceFor says what the state means for the company.
func (t thing) sentenceFor() string {
	switch {
	case t.Status == "PENDING" && t.NeedsDecision:
		return "The provider is asked by hand. Two people of Kobo's operator decide. Do not pay again."
	case t.Status == "PENDING":
		return "We do not know yet whether it was carried out. The money waits in clearing. Do not pay again."
	case t.Status == "SUCCESS":
		return "The provider has confirmed it."
	case t.Status == "REVERSED":
		return "It was carried out and came back. The money is back in your account."
	}
	return "It was not carried out. The money is back in your account."
}

// bulk is a bulk payout as pages show it.
type bulk struct {
	ID        string     `json:"bulkId"`
	State     string     `json:"state"`
	Lines     int        `json:"lineCount"`
	Checking  int        `json:"checking"`
	Good      int        `json:"good"`
	Bad       int        `json:"bad"`
	Amount    money.Kobo `json:"amount"`
	Fee       money.Kobo `json:"fee"`
	Pending   int        `json:"pending"`
	Succeeded int        `json:"succeeded"`
	Failed    int        `json:"failed"`
	CreatedAt string     `json:"createdAt"`
	ExpiresAt string     `json:"expiresAt"`
	Rows      []bulkLine `json:"lines"`
	NextAfter *int       `json:"nextAfter"`
	Account   int64      `json:"fromSettlementId"`
}

// bulkLine is a line of a bulk payout.
type bulkLine struct {
	Line          int        `json:"line"`
	BankCode      string     `json:"bank_code"`
	AccountNumber string     `json:"account_number"`
	Amount        money.Kobo `json:"amount"`
	Narration     *string    `json:"narration"`
	OwnReference  *string    `json:"externalReference"`
	Verdict       string     `json:"verdict"`
	BankName      *string    `json:"bank_name"`
	AccountName   *string    `json:"account_name"`
	Fee           money.Kobo `json:"fee"`
	Reason        *string    `json:"reason"`
	Reference     *string    `json:"reference"`
	Status        *string    `json:"status"`
	DoubleOf      *string    `json:"doubleOf"`
	DoubleOfLine  *int       `json:"doubleOfLine"`
}

// chip returns the chip of a line: of its payout, or before that of its check.
func (l bulkLine) chip() (kind, word string) {
	if l.Status != nil {
		return payoutChip(*l.Status)
	}
	switch l.Verdict {
	case "GOOD":
		return "ok", "Good"
	case "BAD":
		return "failed", "Bad"
	}
	return "wait", "Being checked"
}

// note says what somebody should know about a line.
func (l bulkLine) note() string {
	switch {
	case l.Reason != nil:
		return *l.Reason
	case l.DoubleOfLine != nil:
		return "the same account and amount as line " + strconv.Itoa(*l.DoubleOfLine)
	case l.DoubleOf != nil:
		return "the same account and amount as the payout " + ending(*l.DoubleOf) + " of the last 7 days"
	}
	return ""
}

// typed is the line as somebody types it.
func (l bulkLine) typed() string {
	fields := []string{l.BankCode, l.AccountNumber, l.Amount.Decimal(), optional(l.Narration), optional(l.OwnReference)}
	return strings.TrimRight(strings.Join(fields, ","), ",")
}

// bulkChip returns the chip of a bulk payout.
func bulkChip(state string) (kind, word string) {
	switch state {
	case "CHECKING":
		return "wait", "Being checked"
	case "CHECKED":
		return "propose", "Waits for you"
	case "CONFIRMED":
		return "wait", "Under way"
	case "COMPLETED":
		return "ok", "Completed"
	}
	return "idle", "Cancelled"
}

func showBulks(v *visit) (view, error) {
	var l struct {
		Data struct {
			Data []bulk  `json:"data"`
			Next *string `json:"next"`
		} `json:"data"`
	}
	if _, err := v.ask("GET", "/api/v1/settlement/bulk-payout"+v.asked("limit", "50"), nil, &l); err != nil {
		return view{}, err
	}
	t := table{
		title: "Bulk payouts", item: "payouts", tabs: payoutTabs, tab: payoutTabs[1].path, above: bulkButton(v), below: olderOwn(v, "cursor", optional(l.Data.Next)),
		head: []string{"Time", "Lines", "Amount", "State", "Paid", "Failed", "Not known", "Open"}, nothing: "There is no bulk payout yet.",
	}
	for _, b := range l.Data.Data {
		kind, word := bulkChip(b.State)
		t.rows = append(t.rows, []cell{
			time_(b.CreatedAt), text(strconv.Itoa(b.Lines)), sum(b.Amount), state(kind, word),
			text(strconv.Itoa(b.Succeeded)), text(strconv.Itoa(b.Failed)), text(strconv.Itoa(b.Pending)), link(ending(b.ID), "/app/payouts/bulk/"+b.ID),
		})
	}
	return t.view(v), nil
}

func showNewBulk(v *visit) (view, error) {
	s, err := v.sources()
	return view{title: "New bulk payout", item: "payouts", body: newBulkPage(v, s)}, err
}

// lineOf reads a line of a bulk payout. The number is for the message.
func lineOf(number_ int, text string) (map[string]any, error) {
	wrong := func(why string, arguments ...any) error {
		return fault.New(fault.Invalid, fmt.Sprintf("line %d: ", number_)+fmt.Sprintf(why, arguments...))
	}
	fields := strings.Split(strings.ReplaceAll(text, "\t", ","), ",")
	for i := range fields {
		fields[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(fields[i]), `"`))
	}
	if len(fields) < 3 || len(fields) > 5 {
		return nil, wrong("it needs a bank code, an account number and an amount, and may have a narration and an own reference")
	}
	account := fields[1]
	switch {
	case strings.ContainsAny(account, "eE+."):
		return nil, wrong("%q is an account number that a spreadsheet has rounded. Format the column as text.", account)
	case strings.Trim(account, "0123456789") != "":
		return nil, wrong("%q is no account number", account)
	case len(account) == 9:
		return nil, wrong("%q has 9 digits. A spreadsheet may have removed the first 0: 0%s", account, account)
	case len(account) != 10:
		return nil, wrong("%q has %d digits instead of 10", account, len(account))
	}
	amount, err := number(fields[2])
	if err != nil {
		return nil, wrong("%q is not an amount in naira", fields[2])
	}
	out := map[string]any{"bank_code": fields[0], "account_number": account, "amount": amount}
	if len(fields) > 3 && fields[3] != "" {
		out["narration"] = fields[3]
	}
	if len(fields) > 4 && fields[4] != "" {
		out["externalReference"] = fields[4]
	}
	return out, nil
}

// openBulk opens a bulk payout from typed lines. If a line cannot be read, nothing is opened, and each such line is
// named.
func openBulk(v *visit) (string, error) {
	var lines []map[string]any
	var wrong []string
	for n, text := range strings.Split(v.PostForm.Get("lines"), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || n == 0 && strings.Contains(strings.ToLower(text), "account") {
			continue // an empty line, or the heads of the columns
		}
		line, err := lineOf(n+1, text)
		if err != nil {
			wrong = append(wrong, fault.Of(err).Message)
			continue
		}
		lines = append(lines, line)
	}
	if len(wrong) > 0 || len(lines) == 0 {
		why := fault.New(fault.Invalid, "Mend these lines, or remove them")
		if why.Details = wrong; len(wrong) == 0 {
			why = fault.New(fault.Invalid, "There is no line")
		}
		return "", why
	}
	from, err := strconv.ParseInt(v.field("fromSettlementId"), 10, 64)
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose the account that pays").Because(err)
	}
	var opened one[bulk]
	_, err = v.ask("POST", "/api/v1/settlement/bulk-payout", map[string]any{"fromSettlementId": from, "pin": v.PostForm.Get("pin"), "lines": lines}, &opened)
	return "/app/payouts/bulk/" + opened.Data.ID, err
}

func showBulk(v *visit) (view, error) {
	var b one[bulk]
	if _, err := v.ask("GET", "/api/v1/settlement/bulk-payout/"+url.PathEscape(v.PathValue("id"))+v.asked("limit", "100"), nil, &b); err != nil {
		return view{}, err
	}
	s, err := v.sources()
	if err != nil {
		return view{}, err
	}
	for _, a := range s.accounts {
		if a.ID == b.Data.Account {
			return view{title: "Bulk payout", item: "payouts", body: bulkPage(v, b.Data, a)}, nil
		}
	}
	return view{}, errNothing
}

func confirmBulk(v *visit) (string, error) {
	id := url.PathEscape(v.PathValue("id"))
	_, err := v.ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+id+"/confirm", map[string]string{"pin": v.PostForm.Get("pin")}, nil)
	return "/app/payouts/bulk/" + id, err
}

func cancelBulk(v *visit) (string, error) {
	id := url.PathEscape(v.PathValue("id"))
	_, err := v.ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+id+"/cancel", nil, nil)
	return "/app/payouts/bulk/" + id, err
}

// failed returns the lines that failed, as somebody types them into a new bulk payout. A line whose outcome is not
// known is never among them.
func (b bulk) failed() string {
	var out []string
	for _, l := range b.Rows {
		if l.Status != nil && *l.Status == "FAILED" {
			out = append(out, l.typed())
		}
	}
	return strings.Join(out, "\n")
}

// moreOf returns the address of the next lines of a bulk payout, or "".
func (b bulk) moreOf() string {
	if b.NextAfter == nil {
		return ""
	}
	return "/app/payouts/bulk/" + b.ID + "?after=" + strconv.Itoa(*b.NextAfter)
}
