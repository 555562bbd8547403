package vtu

import (
	"cmp"
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Verification is the biller's reply about a smartcard or a meter. Each verification is valid for
// one purchase in its category. If the purchase fails, the verification becomes unused again.
type Verification struct {
	Company    string               `db:"company_id,key"`
	ID         string               `db:"id,key"`
	CategoryID string               `db:"category_id"`
	Kind       provider.ServiceKind `db:"kind"`
	Number     string               `db:"entity_number"` // the number of the smartcard or meter, as the company wrote it
	provider.Entity
	State      string    `db:"state,state"`
	PurchaseID string    `db:"purchase_id,changes"` // the purchase that uses the verification
	CreatedAt  time.Time `db:"created_at"`
}

// The states of a verification.
const (
	unused = "UNUSED"
	used   = "USED"
)

// verification adds a change to the unit u, if the purchase has a verification. The change sets the
// verification to a new state. The ledger refuses the unit if the verification is already used.
func (p Purchase) verification(u *ledger.Unit, from, to string) {
	v := Verification{Company: p.Company, ID: p.VerificationID, State: to}
	if to == used {
		v.PurchaseID = p.ID
	}
	if v.ID != "" {
		u.Transition(verifications.Record(v), from)
	}
}

// EntityQuery is a company's request for the owner of a smartcard or a meter.
type EntityQuery struct {
	Company    string
	CategoryID string
	Number     string
	Key        *idempotency.Key
}

// VerifyEntity asks the category's biller for the owner of a smartcard or a meter. It returns a
// Refused fault, for example if the number does not exist. It returns an Unavailable fault if the
// biller does not reply.
func (s *Shop) VerifyEntity(ctx context.Context, q EntityQuery) (Verification, error) {
	category, err := s.findOnSale(ctx, q.CategoryID, provider.CableTV, provider.Utility)
	if err != nil {
		return Verification{}, err
	}
	verifier, able := s.Billers[category.provider].(provider.EntityVerifier)
	if !able {
		return Verification{}, fault.New(fault.Refused, "Numbers of this service category cannot be verified").With(fault.ProductUnavailable)
	}
	a := verifier.VerifyEntity(ctx, provider.EntityQuery{Kind: category.kind, Category: category.code, Number: q.Number})
	switch a.Outcome {
	case provider.Rejected:
		return Verification{}, fault.New(fault.Refused, "Verification failed: "+cmp.Or(a.Message, "there is no such number")).With(fault.RecipientNotFound)
	case provider.Unknown:
		return Verification{}, fault.Newf(fault.Unavailable, "%s could not verify: %s", category.provider, a.Code)
	}
	v := Verification{
		Company: q.Company, ID: id.New(), CategoryID: category.ID, Kind: category.kind, Number: q.Number, Entity: a.Entity,
		State: unused, CreatedAt: s.Clock.Now(),
	}
	u := ledger.For(q.Company)
	u.Insert(verifications.Record(v))
	q.Key.Answer(&u, v, nil)
	return v, idempotency.Taken(s.Book.Commit(ctx, u))
}

// verified returns a verification of the company for a kind of service. It also returns a
// verification that was used already. The commit of the purchase then refuses it.
func (s *Shop) verified(ctx context.Context, company, verificationID string, kind provider.ServiceKind) (Verification, error) {
	v, err := s.findVerification(ctx, company, verificationID)
	if missing(err) || err == nil && v.Kind != kind {
		return Verification{}, fault.New(fault.Refused, "Verification not found").With(fault.VerificationNotFound)
	}
	return v, err
}
