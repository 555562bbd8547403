package console

import (
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
)

// decidedCase turns the refusal of a decision about a case into a conflict that says who has decided it meanwhile, and when.
func (v *visit) decidedCase(refused error) error {
	if !isLate(refused) {
		return refused
	}
	var c admin.CaseDetail
	if _, err := v.call("findCase", v.id(), &c); err != nil || c.ResolvedBy == nil {
		return refused
	}
	at := ""
	for _, s := range c.Timeline {
		at = s.At // the decision is the last step
	}
	return fault.Newf(fault.Conflict, "The case was decided meanwhile: “%s”, proposed by %s and approved by %s, %s.",
		optional(c.Outcome), optional(c.ProposedBy), *c.ResolvedBy, day(instant(at), v.now())).Because(refused)
}

// decidedProposal does the same for a proposal.
func (v *visit) decidedProposal(refused error) error {
	if !isLate(refused) {
		return refused
	}
	var p admin.ProposedActs
	if _, err := v.call("findProposal", v.id(), &p); err != nil || p.DecidedBy == nil {
		return refused
	}
	_, word := proposalChip(p.State)
	by := *p.DecidedBy
	if strings.HasPrefix(by, "program:") {
		by = "Kobo" // what the proposal rested on has changed
	}
	return fault.Newf(fault.Conflict, "%s. %s: %s, %s.", fault.Of(refused).Message, word, by, day(instant(optional(p.DecidedAt)), v.now())).Because(refused)
}

// isLate reports whether a decision was refused, as a second one is.
func isLate(err error) bool { return fault.Is(err, fault.Refused) || fault.Is(err, fault.Conflict) }
