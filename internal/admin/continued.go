package admin

import (
	"context"
	"fmt"

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
