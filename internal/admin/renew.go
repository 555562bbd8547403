package admin

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

// renewToken replaces a token that an act of a proposal has made, for the operator who did the act. Kobo
// stores only hashes of tokens, so it cannot show the lost token again.
func (e *edge) renewToken(ctx context.Context, r *request, body RenewalRequest) (any, error) {
	p, err := e.Operators.Proposal(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	renew, isPIN := e.Companies.RenewKeyToken, body.Operation == "resetPIN"
	switch {
	case isPIN:
		renew = e.Companies.RenewPINToken
	case body.Operation != "issueKey":
		return nil, fault.New(fault.Invalid, `"operation" must be one of [issueKey, resetPIN]`)
	}
	isMine := func(action, tokenID string, at time.Time) error {
		line, err := e.Operators.SignedLine(ctx, p.Company, action, tokenID, at)
		if err != nil && !errors.Is(err, operator.ErrUnrecorded) {
			return err
		}
		mine := err == nil && line.Operator == r.by.Name && line.Details["proposal"] == p.ID
		if mine { // a newer key belongs to a new person of the same name
			mine, err = e.Operators.IsOperator(ctx, r.by.Name, operator.Role(r.op.Role), line.CreatedAt)
			if err != nil {
				return err
			}
		}
		if !mine {
			return fault.New(fault.Refused, "The company's newest token was not made by your approval of this proposal")
		}
		return nil
	}
	for range tries {
		// If the company uses the token meanwhile, the ledger refuses the new one.
		acts, err := operator.Acts(ctx, e.Book, p.Company)
		if err != nil {
			return nil, err
		}
		t, err := renew(ctx, r.by.Again(p).After(acts), p.Company, isMine)
		switch {
		case operator.IsOvertaken(err):
			continue
		case err != nil:
			return nil, err
		case isPIN:
			return PINToken{PinToken: t.Text.Reveal(), ExpiresAt: clock.Text(t.ExpiresAt)}, nil
		}
		return keyTokenOf(t), nil
	}
	return nil, errOvertaken
}
