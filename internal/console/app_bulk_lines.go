package console

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
)

// mostBulkLines is the largest number of lines of a bulk payout, as the contract has it.
const mostBulkLines = 1000

// readLine is a line of a bulk payout as the API takes it, and the number that it has in the file.
type readLine struct {
	number int
	body   map[string]any
}

// lineOf reads a line of a bulk payout. It returns everything that is wrong with the line, each with the field.
func lineOf(banks bankBook, text string) (body map[string]any, wrong []string) {
	bad := func(why string, arguments ...any) { wrong = append(wrong, fmt.Sprintf(why, arguments...)) }
	fields, err := fieldsOf(text)
	switch {
	case err != nil:
		return nil, []string{"a quotation mark is out of place"}
	case len(fields) > 3 && !semicolons(text) && hundreds.MatchString(fields[2]) && ofThree.MatchString(fields[3]):
		return nil, []string{fmt.Sprintf("amount: %q may be one amount. Write the amount without the comma, or with two decimals, such as 1500.00", fields[2]+","+fields[3])}
	case len(fields) < 3 || len(fields) > 5:
		return nil, []string{"it needs a bank, an account number and an amount, and may have a narration and an own reference"}
	}
	code, why := banks.code(fields[0])
	if why != "" {
		bad("bank: %s", why)
	}
	if why := badAccount(fields[1]); why != "" {
		bad("account number: %s", why)
	}
	body = map[string]any{"bank_code": code, "account_number": fields[1]}
	switch amount, err := payable(fields[2]); {
	case rounded.MatchString(fields[2]):
		bad("amount: a spreadsheet has rounded %q. Format the column as a number, and write all digits.", fields[2])
	case strings.Contains(fields[2], ",") && semicolons(text):
		bad("amount: %q may be thousands or decimals. Write the amount without the comma, such as 1500.50", fields[2])
	case err != nil:
		bad("amount: %s", fault.Of(err).Message)
	default:
		body["amount"] = amount
	}
	for i, f := range []struct {
		name, label string
		least, most int
	}{{"narration", "narration", 0, 100}, {"externalReference", "own reference", 4, 250}} {
		if len(fields) <= 3+i || fields[3+i] == "" {
			continue
		}
		value := fields[3+i]
		body[f.name] = value
		switch n := utf8.RuneCountInString(value); {
		case n < f.least:
			bad("%s: %q has %s. It needs at least %d.", f.label, value, count(n, "character", "characters"), f.least)
		case n > f.most:
			bad("%s: it has %s. It may have %d.", f.label, count(n, "character", "characters"), f.most)
		case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }):
			bad("%s: it has a character that cannot be shown. Type it anew.", f.label)
		}
	}
	return body, wrong
}

// badAccount returns why a text is no account number, or "". It never changes the number, since a changed one may be
// somebody else's.
func badAccount(account string) string {
	switch {
	case account == "":
		return "it is missing"
	case strings.ContainsAny(account, "eE+."):
		return fmt.Sprintf("a spreadsheet has rounded %q. Format the column as text.", account)
	case strings.Trim(account, "0123456789") != "":
		return fmt.Sprintf("%q is no account number", account)
	case len(account) == 9:
		return fmt.Sprintf("%q has 9 digits. A spreadsheet may have removed the first 0: 0%s", account, account)
	case len(account) != 10:
		return fmt.Sprintf("%q has %d digits instead of 10", account, len(account))
	}
	return ""
}

// readLines reads all lines of a form. It returns the lines for the API, and the lines that somebody has to mend. It
// skips the heads of the columns and empty lines, but counts them: a number is that of the line in the file.
func readLines(banks bankBook, texts []string) (lines []readLine, bad []badLine) {
	first := map[string]int{} // the number of the line that has an own reference first
	for n, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" || n == 0 && isHeads(text) {
			continue
		}
		body, wrong := lineOf(banks, text)
		if own, has := body["externalReference"].(string); has {
			if first[own] > 0 {
				wrong = append(wrong, fmt.Sprintf("own reference: line %d has %q too", first[own], own))
			} else {
				first[own] = n + 1
			}
		}
		if len(wrong) > 0 {
			bad = append(bad, badLine{n + 1, text, strings.TrimSuffix(strings.Join(wrong, "; "), ".") + "."})
		}
		if body != nil {
			body["fileLine"] = n + 1
		}
		lines = append(lines, readLine{n + 1, body})
	}
	return lines, bad
}

// openBulk opens a bulk payout from typed lines. If a line cannot be read, nothing is opened, and each such line is
// named with all that is wrong with it.
func openBulk(v *visit) (string, error) {
	if v.fileProblem != nil {
		return "", v.fileProblem
	}
	banks, err := v.bankBook()
	if err != nil {
		return "", err
	}
	lines, bad := readLines(banks, v.typedLines())
	switch {
	case len(bad) > 0:
		return "", mend(bad)
	case len(lines) == 0:
		return "", fault.New(fault.Invalid, "There is no line")
	case len(lines) > mostBulkLines:
		return "", fault.Newf(fault.Invalid, "There are %s. A bulk payout has at most %s.", count(len(lines), "line", "lines"), thousands(strconv.Itoa(mostBulkLines)))
	}
	from, err := strconv.ParseInt(v.field("fromSettlementId"), 10, 64)
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose the account that pays").Because(err)
	}
	bodies := make([]map[string]any, len(lines))
	for i, l := range lines {
		bodies[i] = l.body
	}
	var opened one[bulk]
	_, err = v.ask(http.MethodPost, "/api/v1/settlement/bulk-payout", map[string]any{"fromSettlementId": from, "pin": v.PostForm.Get("pin"), "lines": bodies}, &opened)
	if err != nil {
		return "", v.ofTheFile(err, lines)
	}
	return "/app/payouts/bulk/" + opened.Data.ID, v.replace(opened.Data.ID)
}

// mend is the refusal of lines that somebody has to mend.
func mend(bad []badLine) error {
	why := fault.New(fault.Invalid, "Mend these lines, or remove them")
	for _, l := range bad {
		why.Details = append(why.Details, fmt.Sprintf("line %d: %s", l.number, l.why))
	}
	why.Extra = map[string]any{badOf: bad}
	return why
}

// wireLine matches the line and the field in a refusal of the API, which counts the lines of the request from 0.
var wireLine = regexp.MustCompile(`"?lines\[([0-9]+)\](?:\.([A-Za-z_]+))?"?`)

// wireFields are the names of the fields of a line for people.
var wireFields = map[string]string{
	"bank_code": "bank", "account_number": "account number", "amount": "amount", "narration": "narration", "externalReference": "own reference",
}

// ofTheFile returns a refusal of the API with the numbers that the lines have in the file. Each line to mend gets a field
// of its own. The pages check all that the API checks, so this is for what the API learns to check later.
func (v *visit) ofTheFile(err error, lines []readLine) error {
	why := fault.Of(err)
	if err == nil || why.Kind != fault.Invalid && why.Kind != fault.Refused {
		return err
	}
	texts := v.typedLines()
	var bad []badLine
	for _, said := range slices.Concat([]string{why.Message}, why.Details) {
		at := wireLine.FindStringSubmatch(said)
		if at == nil {
			continue
		}
		numberOf := func(text string) int {
			if n, err := strconv.Atoi(text); err == nil && n < len(lines) {
				return lines[n].number
			}
			return 0
		}
		n := numberOf(at[1])
		if n == 0 {
			return err
		}
		_, rest, _ := strings.Cut(said, at[0])
		rest = wireLine.ReplaceAllStringFunc(strings.TrimSpace(rest), func(other string) string {
			return "line " + strconv.Itoa(numberOf(wireLine.FindStringSubmatch(other)[1]))
		})
		if field := wireFields[at[2]]; field != "" {
			rest = field + ": " + rest
		}
		if last := len(bad) - 1; last >= 0 && bad[last].number == n {
			bad[last].why += "; " + rest
			continue
		}
		bad = append(bad, badLine{n, strings.TrimSpace(texts[n-1]), rest})
	}
	if len(bad) == 0 {
		return err
	}
	return mend(bad)
}
