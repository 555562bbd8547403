package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

func (c *console) proposalRoutes() map[string]route {
	return map[string]route{
		"GET /console/waiting":                    {show: showWaiting, query: []string{"tab", "after"}},
		"GET /console/proposals/{id}":             {show: showProposal},
		"POST /console/proposals/{id}/approve":    {show: showProposal, do: approveProposal},
		"POST /console/proposals/{id}/reject":     {show: showProposal, do: rejectProposal},
		"POST /console/proposals/{id}/withdraw":   {show: showProposal, do: withdrawProposal},
		"GET /console/adjustments/{id}":           {show: showAdjustment},
		"POST /console/adjustments/{id}/approve":  {show: showAdjustment, do: approveAdjustment},
		"POST /console/adjustments/{id}/reject":   {show: showAdjustment, do: rejectAdjustment},
		"GET /console/proposals/{id}/answers/{n}": {show: showAnswer},
	}
}

// pile is what waits for a second person.
type pile struct {
	tab         string // for-me, by-me or decided
	proposals   []admin.ProposedActs
	cases       []admin.CaseLine
	adjustments []admin.Adjustment
	next        *string           // the cursor of the next page of what was decided
	names       map[string]string // of the companies of the proposals and adjustments, by reference
}

// mostNamed is the number of companies that a list looks up. It shows other companies by the end of their reference.
const mostNamed = 10

// namesIn returns the names of the companies of a pile.
func (v *visit) namesIn(p pile) (map[string]string, error) {
	var references []string
	for _, a := range p.proposals {
		references = append(references, optional(a.Company))
	}
	for _, a := range p.adjustments {
		references = append(references, a.Company)
	}
	names := map[string]string{"": ""}
	for _, reference := range references {
		if _, known := names[reference]; known || len(names) > mostNamed {
			continue
		}
		name, err := v.companyName(reference)
		if err != nil {
			return nil, err
		}
		names[reference] = name
	}
	return names, nil
}

func (p pile) isEmpty() bool { return len(p.proposals)+len(p.cases)+len(p.adjustments) == 0 }

// showWaiting lists what waits for a person. What the person has asked for stands under another tab,
// because nobody approves an act of their own.
func showWaiting(v *visit) (view, error) {
	p := pile{tab: v.filter("tab", "for-me")}
	if !slices.Contains([]string{"for-me", "by-me", "decided"}, p.tab) {
		return view{}, fault.Newf(fault.Invalid, "There is no list with the name %q.", p.tab)
	}
	var err error
	switch {
	case p.tab == "decided":
		p, err = v.decided()
	case v.filter("after", "") != "":
		err = fault.New(fault.Invalid, "Only the tab of what was decided has further pages.")
	default:
		p, err = v.waitingHere(p.tab)
	}
	if err == nil {
		p.names, err = v.namesIn(p)
	}
	return view{title: "Waiting for me", item: "waiting", body: waitingPage(v, p)}, err
}

// decided is a page of the proposals that wait no more, the newest first.
func (v *visit) decided() (pile, error) {
	var page cursorList[admin.ProposedActs]
	q := url.Values{"after": {v.filter("after", "")}, "pageSize": {"50"}}
	_, err := v.call("listProposals", admin.Input{Query: q}, &page)
	done := slices.DeleteFunc(page.Data, func(a admin.ProposedActs) bool { return a.State == "PROPOSED" })
	return pile{tab: "decided", proposals: done, next: page.Next}, err
}

// waitingHere is all that waits for a second person. Each of these is decided or expires, so there are few, and one page has all of them.
func (v *visit) waitingHere(tab string) (p pile, err error) {
	proposals, err := allOf[admin.ProposedActs](v, "listProposals", url.Values{"status": {"PROPOSED"}})
	if err != nil {
		return p, err
	}
	cases, err := allOf[admin.CaseLine](v, "listCases", url.Values{"proposed": {"true"}})
	if err != nil {
		return p, err
	}
	adjustments, err := allOf[admin.Adjustment](v, "listAdjustments", url.Values{"status": {"PENDING"}})
	if err != nil {
		return p, err
	}
	if tab != "by-me" && !v.maySettle() {
		cases, adjustments = nil, nil // nobody waits for a role that cannot decide about money
	}
	isOther := func(by string) bool { return (by == v.by.Name) != (tab == "by-me") }
	p = pile{tab: tab}
	p.proposals = slices.DeleteFunc(proposals, func(a admin.ProposedActs) bool { return isOther(a.ProposedBy) })
	p.cases = slices.DeleteFunc(cases, func(c admin.CaseLine) bool { return isOther(optional(c.ProposedBy)) })
	p.adjustments = slices.DeleteFunc(adjustments, func(a admin.Adjustment) bool { return isOther(a.CreatedBy) })
	slices.SortFunc(p.proposals, func(a, b admin.ProposedActs) int { return instant(a.ExpiresAt).Compare(instant(b.ExpiresAt)) })
	return p, nil
}

// allOf reads a list of the operators' API to its end, by cursor.
func allOf[R any](v *visit, operation string, q url.Values) (all []R, err error) {
	q.Set("pageSize", "100")
	for next := new(string); next != nil; {
		var page cursorList[R]
		q.Set("after", *next)
		if _, err = v.call(operation, admin.Input{Query: q}, &page); err != nil {
			return nil, err
		}
		all, next = append(all, page.Data...), page.Next
	}
	return all, nil
}

func (v *visit) id() admin.Input {
	return admin.Input{Path: map[string]string{"id": v.PathValue("id")}}
}

func showProposal(v *visit) (view, error) {
	var p admin.ProposedActs
	_, err := v.call("findProposal", v.id(), &p)
	var a about
	if err == nil && p.Company != nil {
		a.CompanyDetail, err = v.companyOf(*p.Company)
	}
	return view{title: "Proposal", item: "waiting", body: proposalPage(v, p, a)}, err
}

// approveProposal approves acts of another person. What an act answers, such as a key, is shown once on
// the page that follows.
func approveProposal(v *visit) (string, error) {
	in := v.id()
	in.Body = struct{}{}
	var answer json.RawMessage
	_, err := v.call("approveProposal", in, &answer)
	if done := admin.Answers(err); done != nil {
		return v.stoppedApproval(done, err)
	}
	if err != nil {
		return "", v.decidedProposal(err)
	}
	return v.approved(approval{Said: answer})
}

// approval is what came of the approval of a proposal.
type approval struct {
	Said    json.RawMessage // the answers of the acts that were done
	Stopped string          // why the acts after them were not done; "" if all were done
}

// approved returns the address of the page that shows once what came of an approval.
func (v *visit) approved(a approval) (string, error) {
	text, err := json.Marshal(a)
	return "/console/proposals/" + v.PathValue("id") + "/answers/" + v.answers.keep(v.session, text), err
}

// stoppedApproval keeps the answers of the acts that were done before an approval stopped. Nothing else has a key that they have made.
// The page that shows them has the error too, because the page of the proposal would say that nothing was changed.
func (v *visit) stoppedApproval(done []any, why error) (string, error) {
	said, err := json.Marshal(done)
	if err != nil {
		return "", errors.Join(why, err)
	}
	stopped := fault.Of(why).Message
	if name, rest, has := strings.Cut(stopped, ": "); has && !strings.Contains(name, " ") {
		stopped = actTitle(name) + ": " + rest // the API names the operation
	}
	status, known := statuses[fault.Of(why).Kind]
	if !known || status >= http.StatusInternalServerError {
		v.log(v.Context(), "an approval stopped half-way", why)
	}
	if !known {
		stopped = "Kobo made a mistake. The cause is in the program's log."
	}
	return v.approved(approval{said, stopped})
}

func rejectProposal(v *visit) (string, error) {
	in := v.id()
	body := admin.RejectionRequest{Note: strings.TrimSpace(v.PostForm.Get("note"))}
	if body.Note == "" {
		return "", fault.New(fault.Invalid, "Say why not. The person who asked for it reads your words.")
	}
	in.Body = body
	_, err := v.call("rejectProposal", in, nil)
	return "/console/proposals/" + v.PathValue("id"), v.decidedProposal(err)
}

func withdrawProposal(v *visit) (string, error) {
	in := v.id()
	in.Body = struct{}{}
	_, err := v.call("withdrawProposal", in, nil)
	return "/console/proposals/" + v.PathValue("id"), v.decidedProposal(err)
}

// correction is an adjustment with the name of its company, and with the account as it is now.
type correction struct {
	admin.Adjustment
	company string
	account *admin.SettlementAccount // nil if the account is unknown
}

// after returns the balance of the account after the adjustment.
func (c correction) after() money.Kobo {
	if c.Direction == "debit" {
		return c.account.Balance - c.Amount
	}
	return c.account.Balance + c.Amount
}

// isWithdrawn reports whether the operator who has asked for the adjustment has taken it back.
func (c correction) isWithdrawn() bool { return optional(c.RejectedBy) == c.CreatedBy }

// chip returns the chip of the adjustment in a list.
func (c correction) chip() (kind, word string) {
	if c.isWithdrawn() {
		return "idle", "Withdrawn"
	}
	return adjustmentChip(c.Status)
}

// endWord says what ended an adjustment that was not booked.
func (c correction) endWord() string {
	if c.isWithdrawn() {
		return "Withdrawn"
	}
	return "Rejected"
}

// accountWords names the settlement account.
func (c correction) accountWords() string {
	words := thousands(itoa(c.SettlementID))
	if c.account != nil {
		words += " · " + c.account.Name
	}
	return words
}

func showAdjustment(v *visit) (view, error) {
	var a correction
	if _, err := v.call("findAdjustment", v.id(), &a.Adjustment); err != nil {
		return view{}, err
	}
	of, err := v.companyOf(a.Company)
	a.company = of.Name
	if i := slices.IndexFunc(of.SettlementAccounts, func(s admin.SettlementAccount) bool { return s.ID == a.SettlementID }); i >= 0 {
		a.account = &of.SettlementAccounts[i]
	}
	return view{title: "Adjustment", item: "waiting", body: adjustmentPage(v, a)}, err
}

func approveAdjustment(v *visit) (string, error) {
	in := v.id()
	in.Body = struct{}{}
	_, err := v.call("approveAdjustment", in, nil)
	return "/console/adjustments/" + v.PathValue("id"), err
}

func rejectAdjustment(v *visit) (string, error) {
	in := v.id()
	in.Body = admin.RejectionRequest{Note: v.PostForm.Get("note")}
	_, err := v.call("rejectAdjustment", in, nil)
	return "/console/adjustments/" + v.PathValue("id"), err
}

// showAnswer shows the answer of an approved act once. It may contain a key, so nothing keeps it.
func showAnswer(v *visit) (view, error) {
	text, there := v.answers.take(v.session, v.PathValue("n"))
	var a approval
	title := "No answer"
	if there {
		if err := json.Unmarshal(text, &a); err != nil {
			return view{}, err
		}
		if title = "Approved"; a.Stopped != "" {
			title = "Not finished"
		}
	}
	return view{title: title, item: "waiting", body: answerPage(v, a, there)}, nil
}

// proposalChip returns the kind and the word of a proposal's state.
func proposalChip(state string) (kind, word string) {
	switch state {
	case "PROPOSED":
		return "propose", "Waiting for approval"
	case "UNFINISHED":
		return "case", "Not finished"
	case "APPROVED":
		return "ok", "Approved"
	case "REJECTED":
		return "failed", "Rejected"
	}
	return "idle", sentence(words(state))
}

// actWords returns the name of an operation or of a field as words: setCardAddress becomes "Set card address", and moveKYB "Move KYB".
func actWords(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		isWord := i > 0 && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if isWord {
			b.WriteByte(' ')
		}
		if i > 0 && unicode.IsUpper(r) && i+1 < len(letters) && unicode.IsLower(letters[i+1]) {
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return sentence(b.String())
}

// hasMoved reports whether the page shows the value of an act then and now.
func hasMoved(p admin.ProposedActs) bool {
	return slices.ContainsFunc(p.Acts, func(a admin.ProposedAct) bool { return a.Now != nil })
}

// nowWord says when the second of the two values counted.
func nowWord(p admin.ProposedActs) string {
	if p.State == "DEAD" {
		return "When it ended"
	}
	return "Now"
}

// againAt returns the form that proposes the same kind of act again, or "".
func againAt(p admin.ProposedActs) string {
	if p.Company == nil || len(p.Acts) != 1 {
		return ""
	}
	i := slices.IndexFunc(changes, func(c change) bool { return c.operation == p.Acts[0].Operation })
	if i < 0 {
		return ""
	}
	return "/console/companies/" + *p.Company + "/change/" + changes[i].name
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
