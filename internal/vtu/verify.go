package vtu

import (
	"cmp"
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Verification is whose a smartcard or a meter is. One purchase of the same
// company and category may use it; a definite rejection gives it back.
type Verification struct {
	ID         string
	CategoryID string
	Kind       provider.ServiceKind
	Number     string // of the smartcard or the meter, as it was asked for
	provider.Entity
	CreatedAt time.Time
}

// EntityQuery asks whose a smartcard or a meter is.
type EntityQuery struct {
	Company    string
	CategoryID string
	Number     string
	Key        *idempotency.Key
}

// VerifyEntity asks the category's biller whose a smartcard or a meter is. Faults
// are Refused, also when there is no such number, and Unavailable when the
// biller could not tell.
func (s *Shop) VerifyEntity(ctx context.Context, q EntityQuery) (Verification, error) {
	category, err := s.findOnSale(ctx, q.CategoryID, provider.CableTV, provider.Utility)
	if err != nil {
		return Verification{}, err
	}
	verifier, able := s.billers[category.provider].(provider.EntityVerifier)
	if !able {
		return Verification{}, fault.New(fault.Refused, "Numbers of this service category cannot be verified")
	}
	a := verifier.VerifyEntity(ctx, provider.EntityQuery{Kind: category.Kind, Category: category.code, Number: q.Number})
	switch a.Outcome {
	case provider.Rejected:
		return Verification{}, fault.New(fault.Refused, "Verification failed: "+cmp.Or(a.Message, "there is no such number"))
	case provider.Unknown:
		return Verification{}, fault.Newf(fault.Unavailable, "%s could not verify: %s", category.provider, a.Code)
	}
	v := Verification{
		ID: id.New(), CategoryID: category.ID, Kind: category.Kind, Number: q.Number, Entity: a.Entity, CreatedAt: s.clock.Now(),
	}
	err = s.book.Commit(ctx, ledger.Unit{
		Company: q.Company, Claims: append([]db.Record{v.record(q.Company)}, q.Key.Answered(v, nil)...),
	})
	return v, idempotency.Taken(err)
}

// verified is a verification of the company for this kind of service. Whether it
// is used is decided by the commit that would use it, and nowhere else.
func (s *Shop) verified(ctx context.Context, company, verificationID string, kind provider.ServiceKind) (Verification, error) {
	v, err := s.findVerification(ctx, company, verificationID)
	if missing(err) || err == nil && v.Kind != kind {
		return Verification{}, fault.New(fault.Refused, "Verification not found")
	}
	return v, err
}
