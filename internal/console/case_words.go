package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// openCase is a case as its page shows it: with the story of the payment that it is about, and the names of companies.
type openCase struct {
	admin.CaseDetail
	story    story  // of the payment; of the case itself if no payment is known
	assigned string // the name of the company that gets the money by the proposal or by the decision, or ""
}

// readCase reads the case of the address.
func (v *visit) readCase() (c openCase, err error) {
	if _, err = v.call("findCase", v.id(), &c.CaseDetail); err != nil {
		return c, err
	}
	c.story, err = v.storyOf(c.ID)
	if fault.Is(err, fault.Missing) { // a case stays to be decided, whatever became of the rows that it is about
		c.story.company, err = v.companyName(c.Company)
	}
	if err != nil {
		return c, err
	}
	to := c.Assigned
	if p := c.Proposal; p != nil {
		to = p.Assigned
	}
	if to != nil {
		c.assigned, err = v.companyName(to.Company)
	}
	return c, err
}

// companyName returns the name of a company, or "" if it is none: the ledger of the house is no company's.
func (v *visit) companyName(reference string) (string, error) {
	c, err := v.companyOf(reference)
	return c.Name, err
}

// companyOf returns a company. It is empty if there is none with the reference: the ledger of the house is no company's.
func (v *visit) companyOf(reference string) (c admin.CompanyDetail, err error) {
	_, err = v.call("findCompany", admin.Input{Path: map[string]string{"reference": reference}}, &c)
	if fault.Is(err, fault.Missing) {
		err = nil
	}
	return c, err
}

// ownerName returns a company as people say it.
func ownerName(name, reference string) string {
	switch {
	case name != "":
		return name
	case reference == "house":
		return "Kobo itself"
	}
	return ending(reference)
}

// caseAmount returns what a case is worth: the difference that the bank has, or else the amount of its payment. It returns nil if the
// case is about no money.
func caseAmount(c admin.CaseLine) *money.Kobo {
	if c.Amount == nil && c.Payment != nil {
		return &c.Payment.Amount
	}
	return c.Amount
}

// caseParty returns the counterparty of the payment that a case is about, or "".
func caseParty(c admin.CaseLine) string {
	if c.Payment == nil {
		return ""
	}
	return optional(c.Payment.Counterparty)
}

func (c openCase) owner() string { return ownerName(c.story.company, c.Company) }

// isPayment reports whether the case is about money whose story is known.
func (c openCase) isPayment() bool { return c.story.Kind != "" && c.story.Kind != "case" }

// isPending reports whether an outcome of the case decides about money in clearing.
func (c openCase) isPending() bool { return c.story.Clock != nil }

// title returns what the case is about, with the amount and the counterparty.
func (c openCase) title() string {
	out := sentence(words(c.Reason))
	if c.Amount != nil && !(c.isPayment() && *c.Amount == c.story.Amount) { // the title of a payment has its amount
		out += " · " + naira(*c.Amount)
	}
	if c.isPayment() {
		out += " · " + c.story.title()
	}
	return out
}

// sum returns the amount that moves if the case is decided.
func (c openCase) sum() money.Kobo {
	switch {
	case c.story.Word != nil:
		return c.story.Amount + c.story.Fee
	case c.Amount != nil:
		return *c.Amount
	}
	return c.story.Amount
}

// finding is an outcome that a person may choose.
type finding struct{ outcome, effect string }

// findings returns the outcomes that a case allows, with what each does. Kobo refuses the others: nobody confirms or rejects
// what no provider was asked for, and nobody dismisses a payment whose money waits in clearing.
func (c openCase) findings() (out []finding) {
	add := func(outcome string) { out = append(out, finding{outcome, c.effect(outcome, nil)}) }
	switch c.Reason {
	case "LATE_ATTEMPT":
		add("dismissed")
		return out
	case "BROKEN_CHAIN":
		add("accepted")
		return out
	case "UNKNOWN_ACCOUNT", "MISSING_CREDIT", "CARD_BALANCE":
		add("assigned")
	case "UNBOOKED_CHARGE", "NOT_ON_STATEMENT":
		add("booked")
	}
	if c.isPending() {
		add("confirmed")
		add("rejected")
		return out
	}
	if optional(c.story.Word) == "paid" && slices.Contains([]string{"CONTRADICTION", "FAILED_REVERSAL", "NOT_ON_STATEMENT"}, c.Reason) {
		add("rejected")
	}
	add("dismissed")
	return out
}

// target is the settlement account that gets the money of an unknown owner.
type target struct {
	company string
	account int64
}

// effect returns what an outcome does, with the amount and the company. Both people read this sentence: the one who proposes
// and the one who approves.
func (c openCase) effect(outcome string, to *target) string {
	sum, whose, at := naira(c.sum()), c.owner(), c.story.atProvider()
	switch outcome {
	case "assigned":
		if to == nil {
			return sum + " goes to the settlement account that you name."
		}
		return fmt.Sprintf("%s goes to the settlement account %d of %s.", sum, to.account, to.company)
	case "booked":
		return "The bank’s charges of that day are booked in the ledger of Kobo itself: " + sum + "."
	case "accepted":
		return "The altered rows stay as they are, and the account is open to debits again."
	case "confirmed":
		return fmt.Sprintf("%s of %s moves on from clearing to %s, and counts as %s%s.", sum, whose, at, c.story.purpose(), c.toWhom())
	case "rejected":
		if !c.isPending() {
			return fmt.Sprintf("%s comes back from %s to the settlement account of %s: the payment%s is reversed.", sum, at, whose, c.toWhom())
		}
		return fmt.Sprintf("%s goes back from clearing to the settlement account of %s, and counts as not %s%s.", sum, whose, c.story.purpose(), c.toWhom())
	case "dismissed":
		return "No money moves."
	}
	return ""
}

// toWhom names the beneficiary of a payout, or what was bought, with a word before it.
func (c openCase) toWhom() string {
	who, _, _ := strings.Cut(optional(c.story.Counterparty), ",")
	switch {
	case who == "":
		return ""
	case c.story.Kind == "payout":
		return " to " + who
	}
	return " (" + who + ")"
}

// proposed returns what the proposal does.
func (c openCase) proposed() string {
	p := c.Proposal
	if p.Assigned == nil {
		return c.effect(p.Outcome, nil)
	}
	return c.effect(p.Outcome, &target{ownerName(c.assigned, p.Assigned.Company), p.Assigned.SettlementID})
}

// moves reports whether an outcome moves money, so that pages repeat the amount.
func moves(outcome string) bool { return outcome != "dismissed" && outcome != "accepted" }

// lookAtOutcome shows what a finding does, before a person proposes it.
func lookAtOutcome(v *visit) (view, error) {
	text, there := v.answers.read(v.session, v.PathValue("n"))
	if !there {
		return view{}, errNothing
	}
	typed, err := url.ParseQuery(string(text))
	if err != nil {
		return view{}, err
	}
	c, err := v.readCase()
	if err != nil {
		return view{}, err
	}
	body, err := findingOf(typed)
	if err != nil {
		return view{}, err
	}
	to, err := v.targetOf(body)
	return view{title: "Case " + words(c.Reason), item: "cases", body: lookAtCasePage(v, c, typed, c.effect(body.Outcome, to))}, err
}

// targetOf returns the settlement account of a finding, in words. It is nil if the finding names none. The account belongs to the
// company, and can get money.
func (v *visit) targetOf(body admin.FindingRequest) (*target, error) {
	if body.Company == "" {
		return nil, nil
	}
	var c admin.CompanyDetail
	_, err := v.call("findCompany", admin.Input{Path: map[string]string{"reference": body.Company}}, &c)
	if fault.Is(err, fault.Missing) || err == nil && c.Name == "" {
		return nil, fault.New(fault.Missing, "No company has this reference.")
	} else if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(c.SettlementAccounts, func(a admin.SettlementAccount) bool { return a.ID == body.SettlementID })
	switch {
	case at < 0:
		return nil, fault.Newf(fault.Invalid, "%s has no settlement account %d.", c.Name, body.SettlementID)
	case c.SettlementAccounts[at].Status != "ACTIVE":
		return nil, fault.Newf(fault.Invalid, "The settlement account %d of %s is not active.", body.SettlementID, c.Name)
	}
	return &target{c.Name, body.SettlementID}, nil
}

// onStatement returns the bank of a line that only its statement has, and the bank's reference of the line. Both are "" for any other case.
func (c openCase) onStatement() (bank, reference string) {
	if c.Reason != "MISSING_CREDIT" && c.Reason != "UNKNOWN_DEBIT" {
		return "", ""
	}
	bank, reference, there := strings.Cut(c.Subject, "/")
	if !there {
		return "", ""
	}
	return providerName(bank), reference
}

// approveWords is the word on the button that approves the proposal. It repeats the amount that moves.
func approveWords(c openCase) string {
	word := "Approve “" + c.Proposal.Outcome + "”"
	if moves(c.Proposal.Outcome) {
		word += " for " + naira(c.sum())
	}
	return word
}
