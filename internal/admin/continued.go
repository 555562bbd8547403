package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

// unchanged is the position that changer returns if no act changes the thing.
const unchanged = -1

// changer returns the position of the first act that changes the thing of this name.
func changer(acts []operator.Act, on string) int {
	for i, a := range acts {
		if on != "" && changes(a) == on {
			return i
		}
	}
	return unchanged
}

// changes returns the name of what an act changes. API keys are a part of what a change of the company's
// KYB or its switch rests on.
func changes(a operator.Act) string {
	if a.Operation == "issueKey" || a.Operation == "revokeKey" {
		return "company"
	}
	return a.On
}

// actsAbout returns the number of the acts about the proposal's company, or 0 without a company.
func (e *edge) actsAbout(ctx context.Context, p operator.Proposal) (int64, error) {
	if p.Company == "" {
		return 0, nil
	}
	return operator.Acts(ctx, e.Book, p.Company)
}

// interrupted returns why a proposal must not go on after its done act at a position, or "". Since that act,
// only acts of this proposal may have changed the company. Otherwise the second operator may have approved
// something else than what would happen now. Nothing counts the acts about no company.
func (e *edge) interrupted(ctx context.Context, p operator.Proposal, position int) (string, error) {
	now, err := e.actsAbout(ctx, p)
	if err != nil || p.Company == "" {
		return "", err
	}
	others, err := e.Operators.ActsOfOthers(ctx, p, position, now)
	if err == nil && others > 0 {
		return fmt.Sprintf("the audit log of the company has %d other acts since this proposal did %s", others, p.Acts[position].Operation), nil
	}
	return "", err
}

// ofNoCompany returns the first act that concerns no company, or "". An act of a customer concerns the customer's
// company.
func (e *edge) ofNoCompany(acts []operator.Act) string {
	for _, a := range acts {
		if op := e.operations[a.Operation]; op != nil && !strings.Contains(op.Path, "{reference}") && !strings.HasPrefix(op.Path, customers) {
			return a.Operation
		}
	}
	return ""
}

// customers is the beginning of the paths that name a customer, and not the company of the customer.
const customers = "/admin/v1/customers/"

// twoScopes returns a refusal if the acts of a company's proposal concern no company too. An earlier release
// has stored such proposals.
func (e *edge) twoScopes(p operator.Proposal) error {
	act := e.ofNoCompany(p.Acts)
	if p.Company == "" || act == "" {
		return nil
	}
	return fault.Newf(fault.Refused, "%s concerns no company, and another act concerns company %s: %s must withdraw this proposal and make two",
		act, p.Company, p.ProposedBy)
}
