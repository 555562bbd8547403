package console

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

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

// again is the line as somebody types it, to send it again. The own reference is not in it, because a company uses it
// for one payout only.
func (l bulkLine) again() string {
	fields := []string{l.BankCode, l.AccountNumber, l.Amount.Decimal()}
	if narration := optional(l.Narration); narration != "" {
		fields = append(fields, `"`+strings.ReplaceAll(narration, `"`, `""`)+`"`)
	}
	return strings.Join(fields, ",")
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
	if err != nil {
		return view{}, err
	}
	m, err := v.mended()
	return view{title: "New bulk payout", item: "payouts", body: newBulkPage(v, s, m)}, err
}

// A comma within an amount makes two fields of it: the hundreds, and groups of three digits.
var (
	hundreds = regexp.MustCompile(`^₦? ?[0-9]{1,3}$`)
	ofThree  = regexp.MustCompile(`^[0-9]{3}(\.[0-9]*)?$`)
)

// fieldsOf returns the fields of a line. The first tab, comma or semicolon separates the fields of the whole line: a
// spreadsheet puts tabs between pasted cells, which may have commas inside, and in some countries semicolons into a CSV
// file. A CSV file has fields with a separator inside within quotation marks.
func fieldsOf(text string) (fields []string, err error) {
	at := strings.IndexAny(text, "\t,;")
	if at >= 0 && text[at] == '\t' {
		fields = strings.Split(text, "\t")
		for i := range fields {
			fields[i] = strings.Trim(strings.TrimSpace(fields[i]), `"`)
		}
	} else {
		r := csv.NewReader(strings.NewReader(text))
		if at >= 0 {
			r.Comma = rune(text[at])
		}
		r.TrimLeadingSpace = true
		if fields, err = r.Read(); err != nil {
			return nil, err
		}
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	if at >= 0 && text[at] == ';' && len(fields) > 2 && decimalComma.MatchString(fields[2]) {
		fields[2] = strings.Replace(fields[2], ",", ".", 1) // a country that writes semicolons writes 1500,50
	}
	return fields, nil
}

// decimalComma matches an amount with a decimal comma. With three digits after it, the comma may be between thousands.
var decimalComma = regexp.MustCompile(`^[0-9]+,[0-9]{1,2}$`)

// rounded matches a number as spreadsheets write large ones, such as 1.2E+09.
var rounded = regexp.MustCompile(`^[0-9][0-9.,]*[eE][+-]?[0-9]+$`)

// semicolons reports whether semicolons separate the fields of a line.
func semicolons(text string) bool {
	at := strings.IndexAny(text, "\t,;")
	return at >= 0 && text[at] == ';'
}

// isHeads reports whether the first line has the heads of the columns. A payout has digits.
func isHeads(text string) bool {
	return strings.Contains(strings.ToLower(text), "account") && !strings.ContainsAny(text, "0123456789")
}

// lineOf reads a line of a bulk payout. The number is for the message.
func lineOf(number_ int, text string) (map[string]any, error) {
	wrong := func(why string, arguments ...any) error {
		return fault.New(fault.Invalid, fmt.Sprintf("line %d: ", number_)+fmt.Sprintf(why, arguments...))
	}
	fields, err := fieldsOf(text)
	if err != nil {
		return nil, wrong("a quotation mark is out of place")
	}
	if len(fields) > 3 && !semicolons(text) && hundreds.MatchString(fields[2]) && ofThree.MatchString(fields[3]) {
		return nil, wrong("%q may be one amount. Write the amount without the comma, or with two decimals, such as 1500.00", fields[2]+","+fields[3])
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
	if rounded.MatchString(fields[2]) {
		return nil, wrong("%q is an amount that a spreadsheet has rounded. Format the column as a number, and write all digits.", fields[2])
	}
	if strings.Contains(fields[2], ",") && semicolons(text) {
		return nil, wrong("%q may be thousands or decimals. Write the amount without the comma, such as 1500.50", fields[2])
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
	if v.fileProblem != nil {
		return "", v.fileProblem
	}
	var lines []map[string]any
	var wrong []string
	var bad []badLine
	for n, text := range v.typedLines() {
		text = strings.TrimSpace(text)
		if text == "" || n == 0 && isHeads(text) {
			continue // an empty line, or the heads of the columns
		}
		line, err := lineOf(n+1, text)
		if err != nil {
			wrong = append(wrong, fault.Of(err).Message)
			_, reason, _ := strings.Cut(fault.Of(err).Message, ": ")
			bad = append(bad, badLine{n + 1, text, reason})
			continue
		}
		lines = append(lines, line)
	}
	if len(wrong) > 0 || len(lines) == 0 {
		why := fault.New(fault.Invalid, "Mend these lines, or remove them")
		if why.Details = wrong; len(wrong) == 0 {
			why = fault.New(fault.Invalid, "There is no line")
		}
		why.Extra = map[string]any{badOf: bad}
		return "", why
	}
	from, err := strconv.ParseInt(v.field("fromSettlementId"), 10, 64)
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose the account that pays").Because(err)
	}
	if err := v.replaced(); err != nil {
		return "", err
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
	var c one[api.Company]
	if _, err := v.ask("GET", "/api/v1/company", nil, &c); err != nil {
		return view{}, err
	}
	var waiting string
	if b.Data.State == "CHECKED" {
		if waiting, err = v.waitingFor(b.Data.ID); err != nil {
			return view{}, err
		}
	}
	for _, a := range s.accounts {
		if a.ID == b.Data.Account {
			return view{title: "Bulk payout", item: "payouts", body: bulkPage(v, b.Data, a, payoutWaits(c.Data, b.Data.Amount), waiting)}, nil
		}
	}
	return view{}, errNothing
}

func confirmBulk(v *visit) (string, error) {
	id := url.PathEscape(v.PathValue("id"))
	var sent one[asked]
	status, err := v.ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+id+"/confirm", map[string]string{"pin": v.PostForm.Get("pin")}, &sent)
	return sentPage(status, sent.Data.ID, "/app/payouts/bulk/"+id), stateInWords(err)
}

// stateInWords returns a refusal for the state of a bulk payout with the words of the state's chip.
func stateInWords(err error) error {
	why := fault.Of(err)
	if err == nil || why.Reason() != fault.BulkState {
		return err
	}
	said, state, _ := strings.Cut(why.Message, " is ")
	if _, word := bulkChip(state); state != "" {
		return fault.New(why.Kind, said+": "+strings.ToLower(word)).With(fault.BulkState).Because(err)
	}
	return err
}

func cancelBulk(v *visit) (string, error) {
	id := url.PathEscape(v.PathValue("id"))
	_, err := v.ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+id+"/cancel", nil, nil)
	return "/app/payouts/bulk/" + id, stateInWords(err)
}

// failed returns the lines that failed, as somebody types them into a new bulk payout. A line whose outcome is not
// known is never among them.
func (b bulk) failed() string {
	var out []string
	for _, l := range b.Rows {
		if l.Status != nil && *l.Status == "FAILED" {
			out = append(out, l.again())
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
