package console

import (
	"cmp"
	"encoding/csv"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
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

	doubts map[string]operation.Doubt // of the payouts of which lines are doubles
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
	FileLine      int        `json:"fileLine"` // 0 if the line comes from no file
}

// number is the number by which people know the line: the one in their file, if the line comes from a file.
func (l bulkLine) number() int { return cmp.Or(l.FileLine, l.Line) }

// lineChip returns the chip of a line: of its payout, or before that of its check.
func (b bulkView) lineChip(v *visit, l bulkLine) (kind, word string) {
	if l.Status != nil {
		return v.chipNow("payout", optional(l.Reference), *l.Status, b.unknown)
	}
	switch l.Verdict {
	case "GOOD":
		return "ok", "Good"
	case "BAD":
		return "failed", "Bad"
	}
	return "wait", "Being checked"
}

// numberOf returns the number by which people know the line with a number within the bulk payout.
func (b bulk) numberOf(line int) int {
	if at := slices.IndexFunc(b.Rows, func(l bulkLine) bool { return l.Line == line }); at >= 0 {
		return b.Rows[at].number()
	}
	return line
}

// ofFile reports whether the lines have the numbers of a file.
func (b bulk) ofFile() bool {
	return slices.ContainsFunc(b.Rows, func(l bulkLine) bool { return l.FileLine > 0 })
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
	l, err := ownRowsByCursor[bulk](v, "/api/v1/settlement/bulk-payout", "limit", "50")
	if err != nil {
		return view{}, err
	}
	t := table{
		title: "Bulk payouts", item: "payouts", tabs: payoutTabs, tab: payoutTabs[1].path, above: bulkButton(v), next: l.next,
		head: []string{"Time", "Lines", "Amount", "State", "Paid", "Failed", "Not known", "Open"}, nothing: "There is no bulk payout yet.",
	}
	waiting, err := v.waitingBulks(l.rows)
	if err != nil {
		return view{}, err
	}
	for _, b := range l.rows {
		kind, word := v.chipOfBulk(b, waiting[b.ID])
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

// bulkView is what the page of a bulk payout shows.
type bulkView struct {
	bulk    // with all lines
	from    account
	left    string        // what the account may still pay out today
	waits   bool          // a second person has to approve it
	waiting *api.Approval // that waits for it already, or nil
	show    string        // which lines: "" for all, or a name of bulkShows
	page    []bulkLine    // that the page shows
	next    string        // the address of the lines after them, or ""
	unknown outcomes      // of the lines of the page, and of those that failed
}

// bulkShows are the lines that somebody looks at alone, with their names in the address.
var bulkShows = []struct{ key, label string }{{"", "All lines"}, {"failed", "Failed, refunded"}, {"bad", "Bad"}, {"doubles", "May be paid twice"}}

// linesOfPage is how many lines of a bulk payout one page shows.
const linesOfPage = 100

// bulkOf returns a bulk payout with all its lines.
func (v *visit) bulkOf(id string) (bulk, error) {
	var out one[bulk]
	for after, rows := 0, []bulkLine(nil); ; after = *out.Data.NextAfter {
		out = one[bulk]{}
		if _, err := v.ask("GET", "/api/v1/settlement/bulk-payout/"+url.PathEscape(id)+"?limit=1000&after="+strconv.Itoa(after), nil, &out); err != nil {
			return bulk{}, err
		}
		rows = append(rows, out.Data.Rows...)
		if out.Data.Rows = rows; out.Data.NextAfter == nil {
			return v.withDoubts(out.Data)
		}
	}
}

// only returns the lines with a name of bulkShows, or the good ones.
func (b bulk) only(show string) []bulkLine {
	return slices.DeleteFunc(slices.Clone(b.Rows), func(l bulkLine) bool {
		switch show {
		case "failed":
			return l.Status == nil || *l.Status != "FAILED" && *l.Status != "REVERSED"
		case "good":
			return l.Verdict != "GOOD"
		case "bad":
			return l.Verdict != "BAD"
		case "doubles":
			return l.DoubleOf == nil && l.DoubleOfLine == nil
		}
		return false
	})
}

// address returns the address of some lines of a bulk payout.
func (b bulk) address(show string) string {
	if show == "" {
		return "/app/payouts/bulk/" + b.ID
	}
	return "/app/payouts/bulk/" + b.ID + "?show=" + show
}

// turn chooses the lines of the page.
func (b *bulkView) turn(after int) {
	for _, l := range b.only(b.show) {
		switch {
		case l.Line <= after:
		case len(b.page) == linesOfPage:
			q := url.Values{"after": {strconv.Itoa(b.page[linesOfPage-1].Line)}}
			if b.show != "" {
				q.Set("show", b.show)
			}
			b.next = "/app/payouts/bulk/" + b.ID + "?" + q.Encode()
			return
		default:
			b.page = append(b.page, l)
		}
	}
}

func showBulk(v *visit) (view, error) {
	b := bulkView{show: v.filter("show", "")}
	after, err := strconv.Atoi(v.filter("after", "0"))
	known := slices.ContainsFunc(bulkShows, func(s struct{ key, label string }) bool { return s.key == b.show })
	if err != nil || after < 0 || !known {
		return view{}, fault.New(fault.Invalid, "after is the number of a line, and show is failed, bad or doubles.").Because(err)
	}
	if b.bulk, err = v.bulkOf(v.PathValue("id")); err != nil {
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
	if b.State == "CHECKED" {
		if b.waiting, err = v.waitingFor(b.ID); err != nil {
			return view{}, err
		}
	}
	b.waits, b.left = payoutWaits(c.Data, b.Amount), limitLeft(c.Data, b.Account)
	b.turn(after)
	at := slices.IndexFunc(s.accounts, func(a account) bool { return a.ID == b.Account })
	if at < 0 {
		return view{}, errNothing
	}
	b.from = s.accounts[at]
	states := map[string]string{}
	for _, l := range append(b.only("failed"), b.page...) {
		if l.Status != nil {
			states[optional(l.Reference)] = *l.Status
		}
	}
	if b.unknown, err = v.outcomesOf(states); err != nil {
		return view{}, err
	}
	return view{title: "Bulk payout", item: "payouts", body: bulkPage(v, b), thing: withAmount("Bulk payout "+ending(v.PathValue("id")), b.Amount)}, nil
}

// chip returns the chip of a bulk payout. Failed lines are no success of the whole.
func (b bulk) chip() (kind, word string) {
	if b.State == "COMPLETED" && b.Failed > 0 {
		return "failed", "Completed, " + thousands(strconv.Itoa(b.Failed)) + " failed and refunded"
	}
	return bulkChip(b.State)
}

// doubtful returns how many of the failed lines have an outcome that is in doubt.
func (b bulkView) doubtful() (n int) {
	for _, l := range b.only("failed") {
		if b.unknown[optional(l.Reference)].Doubt != nil {
			n++
		}
	}
	return n
}

// approval returns the approval that waits, or a zero one.
func (b bulkView) approval() api.Approval {
	if b.waiting == nil {
		return api.Approval{}
	}
	return *b.waiting
}

// chipOfBulk returns the chip of a bulk payout for the reader, in the list and on its page. A bulk payout that waits for somebody else does
// not wait for the reader.
func (v *visit) chipOfBulk(b bulk, waiting api.Approval) (kind, word string) {
	if b.State == "CHECKED" && !v.isNext(waiting) {
		return "propose", "Waiting for approval"
	}
	return b.chip()
}

func confirmBulk(v *visit) (string, error) {
	id := url.PathEscape(v.PathValue("id"))
	var sent one[asked]
	seen := v.seen()
	status, err := v.seeing(seen).ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+id+"/confirm", map[string]string{"pin": v.PostForm.Get("pin")}, &sent)
	if isOther(err) {
		return "", v.bulkChanged(seen, err)
	}
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
// known, or in doubt, is never among them.
func (b bulkView) failed() string {
	var out []string
	for _, l := range b.Rows {
		if l.Status != nil && *l.Status == "FAILED" && b.unknown[optional(l.Reference)].Doubt == nil {
			out = append(out, l.again())
		}
	}
	return strings.Join(out, "\n")
}
