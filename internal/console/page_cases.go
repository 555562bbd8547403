package console

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

func (c *console) caseRoutes() map[string]route {
	return map[string]route{
		"GET /console/cases":               {show: showCases, query: []string{"status", "company", "reason", "subject", "proposed", "after"}},
		"GET /console/cases/{id}":          {show: showCase},
		"GET /console/cases/{id}/look/{n}": {show: lookAtOutcome},
		"POST /console/cases/{id}":         {show: showCase, do: findOutcome},
		"POST /console/cases/{id}/agreed":  {show: showCase, do: agreeOutcome},
	}
}

// reasons are the reasons of a case that the list can be filtered by.
var reasons = []string{
	"UNRESOLVED", "CONTRADICTION", "ORDER_AMOUNT", "LATE_ATTEMPT", "UNKNOWN_ACCOUNT", "UNREADABLE_NOTIFICATION", "CARD_BALANCE", "BROKEN_CHAIN",
	"MISSING_CREDIT", "UNKNOWN_DEBIT", "DUPLICATE_DEBIT", "FAILED_REVERSAL", "AMOUNT_DIFFERS", "NOT_ON_STATEMENT", "UNBOOKED_CHARGE",
}

func showCases(v *visit) (view, error) {
	var page cursorList[admin.Case]
	q := url.Values{"status": {v.filter("status", "OPEN")}, "after": {v.filter("after", "")}, "pageSize": {"50"}}
	for _, name := range []string{"company", "reason", "subject", "proposed"} {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	if _, err := v.call("listCases", admin.Input{Query: q}, &page); err != nil {
		return view{}, err
	}
	lines, err := v.caseLines(page.Data)
	return view{title: "Cases", item: "cases", body: casesPage(v, cursorList[caseLine]{lines, page.Next})}, err
}

func showCase(v *visit) (view, error) {
	c, err := v.readCase()
	return view{title: "Case " + words(c.Reason), item: "cases", body: casePage(v, c), thing: "Case " + words(c.Reason) + " " + ending(v.PathValue("id"))}, err
}

// findOutcome proposes how a case ends. Before, a page shows the sentence that the second person reads.
func findOutcome(v *visit) (string, error) {
	body, err := findingOf(v.PostForm)
	if err != nil {
		return "", err
	}
	at := "/console/cases/" + v.PathValue("id")
	if v.PostForm.Get("sure") == "" {
		if err := v.mayPropose(body); err != nil {
			return "", err
		}
		return at + "/look/" + v.answers.keep(v.session, []byte(heldFields(v.PostForm).Encode())), nil
	}
	_, err = v.call("resolveCase", admin.Input{Path: map[string]string{"id": v.PathValue("id")}, Body: body}, nil)
	return at, v.decidedCase(err)
}

// mayPropose returns an error if the case is decided already, or if the finding names a company that does not exist.
func (v *visit) mayPropose(body admin.FindingRequest) error {
	c, err := v.readCase()
	if err != nil {
		return err
	}
	if c.Status != "OPEN" {
		return v.decidedCase(fault.New(fault.Refused, "The case is resolved already"))
	}
	_, err = v.targetOf(body)
	return err
}

// findingOf reads the form of a decision.
func findingOf(form url.Values) (admin.FindingRequest, error) {
	body := admin.FindingRequest{Outcome: form.Get("outcome"), Note: strings.TrimSpace(form.Get("note"))}
	if body.Note == "" {
		return body, fault.New(fault.Invalid, "Say how you know.")
	}
	if body.Outcome == "assigned" {
		account, err := strconv.ParseInt(strings.TrimSpace(form.Get("settlementId")), 10, 64)
		if err != nil {
			return body, fault.New(fault.Invalid, "The settlement account is a number, such as 12.")
		}
		body.Company, body.SettlementID = strings.TrimSpace(form.Get("company")), account
	}
	return body, nil
}

// agreeOutcome approves the proposal that the page has shown. Kobo refuses another one.
func agreeOutcome(v *visit) (string, error) {
	body := admin.ApprovalRequest{Outcome: v.PostForm.Get("outcome"), Company: v.PostForm.Get("company"), Note: v.PostForm.Get("note")}
	if text := v.PostForm.Get("settlementId"); text != "" {
		account, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", fault.New(fault.Invalid, "The settlement account is a number, such as 12.")
		}
		body.SettlementID = account
	}
	_, err := v.call("approveCase", admin.Input{Path: map[string]string{"id": v.PathValue("id")}, Body: body}, nil)
	return "/console/cases/" + v.PathValue("id"), v.decidedCase(err)
}

// maySettle reports whether the person may decide about money.
func (v *visit) maySettle() bool { return v.may(operator.Finance) }

// caseWord returns what a person does with a case of the list.
func caseWord(c caseLine) string {
	switch {
	case c.Status != "OPEN":
		return "Read"
	case c.Proposal != nil:
		return "Review"
	}
	return "Decide"
}

func decisionTitle(c openCase) string {
	if c.Proposal != nil {
		return "Propose something else"
	}
	return "Decide"
}

// laneOf returns the icon for a step of a case.
func laneOf(what string) string {
	switch what {
	case "intent":
		return "request"
	case "transfer":
		return "money"
	case "event", "delivery":
		return "told"
	case "case", "audit":
		return "people"
	}
	return "provider"
}

// booked matches the text of a transfer: the amount, both accounts with their balances afterwards, the kind and the words.
var booked = regexp.MustCompile(`^(\S+) naira from (\S+) \((\S+) left\) to (\S+) \((\S+) there\): (?:[^,]+, )?(.*)$`)

// movedWords returns the title of a transfer, and where the money went with the balance of each side afterwards.
func movedWords(text string) (title, said string) {
	m := booked.FindStringSubmatch(text)
	if m == nil {
		return "Money moved", inLagos(text)
	}
	var sums [3]string
	for i, at := range []int{1, 3, 5} {
		k, err := money.Parse(strings.TrimPrefix(m[at], "-"))
		if err != nil {
			return "Money moved", inLagos(text)
		}
		if strings.HasPrefix(m[at], "-") {
			k = -k
		}
		sums[i] = naira(k)
	}
	said = fmt.Sprintf("%s, then %s → %s, then %s", accountName(m[2]), sums[1], accountName(m[4]), sums[2])
	if m[6] != "" {
		said += ". " + sentence(inLagos(m[6]))
	}
	return sums[0] + " moved", said
}

// atCompany matches the beginning of a step that another company's ledger has.
var atCompany = regexp.MustCompile(`^at (c[0-9a-z]{24}): `)

// stepWords returns the title of a step of a case, and the words below it. The step of an operator has the outcome and the note.
func (c openCase) stepWords(s admin.Step) (title, said string) {
	if m := atCompany.FindStringSubmatch(s.Text); m != nil {
		s.Text = s.Text[len(m[0]):]
		title, said = c.stepWords(s)
		return title + " at the company " + ending(m[1]), said
	}
	switch s.What {
	case "case":
		title, said = caseWords(s.Text)
		return title, inLagos(said)
	case "transfer":
		return movedWords(s.Text)
	case "audit":
		return auditWords(s.Text)
	case "answer", "state", "event", "delivery", "intent":
		title, said = c.story.rowWords(admin.TimelineStep{At: s.At, What: s.What, Text: s.Text})
		return inLagos(title), inLagos(answerSentence(said))
	}
	return sentence(s.What), inLagos(s.Text)
}
