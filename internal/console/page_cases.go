package console

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

func (c *console) caseRoutes() map[string]route {
	return map[string]route{
		"GET /console/cases":               {show: showCases, query: []string{"status", "company", "reason", "subject", "proposed", "after"}},
		"GET /console/cases/{id}":          {show: showCase, query: []string{"lane"}},
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
	var page cursorList[admin.CaseLine]
	q := url.Values{"status": {v.filter("status", "OPEN")}, "after": {v.filter("after", "")}, "pageSize": {"50"}}
	for _, name := range []string{"company", "reason", "subject", "proposed"} {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	_, err := v.call("listCases", admin.Input{Query: q}, &page)
	return view{title: "Cases", item: "cases", body: casesPage(v, page)}, err
}

func showCase(v *visit) (view, error) {
	c, err := v.readCase()
	c.story.lane = v.filter("lane", "")
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
func caseWord(c admin.CaseLine) string {
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
