package corporate

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Sent is an OTP on its way.
type Sent struct {
	SessionID string
	Message   string // the provider's words
}

// Initiate has an OTP sent to the phone on a BVN. A company has one open session
// for a BVN, and another request is another attempt of that session. A new session
// replaces a spent one a day after its last OTP. Faults are Limited (too soon, or
// too often) and Refused (the provider could not).
func (s *Service) Initiate(ctx context.Context, company string, bvn secret.Text, key *idempotency.Key) (Sent, error) {
	if begun := key.Subject(); begun != "" {
		return s.resume(ctx, company, begun, identity.First, key)
	}
	subjects := s.Identities.Subjects(company, bvn)
	x, err := s.Identities.Open(ctx, company, identity.Corporate, subjects...)
	if err == nil {
		x, err = s.Identities.Current(x, bvn)
	}
	if fault.Is(err, fault.Missing) {
		x, err = s.Identities.New(company, identity.Corporate, subjects[0], bvn)
	}
	if err != nil {
		return Sent{}, err
	}
	return s.send(ctx, x, identity.First, key)
}

// Resend has another OTP sent. The earlier OTP is void. Faults are Missing (no
// such session), Refused (the session is closed, or the provider could not) and
// Limited.
func (s *Service) Resend(ctx context.Context, company, sessionID string, key *idempotency.Key) (Sent, error) {
	if begun := key.Subject(); begun != "" {
		return s.resume(ctx, company, begun, identity.Again, key)
	}
	x, err := s.Identities.Find(ctx, company, identity.Corporate, sessionID)
	if err != nil {
		return Sent{}, err
	}
	if x.Closed() {
		return Sent{}, fault.New(fault.Refused, "Session closed")
	}
	return s.send(ctx, x, identity.Again, key)
}

func (s *Service) send(ctx context.Context, x identity.Session, w identity.Words, key *idempotency.Key) (Sent, error) {
	x, message, err := s.Identities.Send(ctx, x, w, identity.Effects{
		Begin: func(u *ledger.Unit) { key.Begin(u, x.ID, s.Identities.Until()) },
		End:   func(u *ledger.Unit, message string, err error) { key.Finish(u, Sent{x.ID, message}, err) },
	})
	return Sent{x.ID, message}, err
}

// resume answers a request whose first try, under the same Idempotency-Key, was
// cut off after it had used its attempt. It sends no other OTP.
func (s *Service) resume(ctx context.Context, company, sessionID string, w identity.Words, key *idempotency.Key) (Sent, error) {
	x, err := s.Identities.Find(ctx, company, identity.Corporate, sessionID)
	if err != nil {
		return Sent{}, err
	}
	sent, why := Sent{x.ID, w.Sent}, error(nil)
	if x.State == identity.Pending {
		why = fault.New(fault.Refused, w.Failed)
	}
	if err := s.Keys.Finish(ctx, key, sent, why); err != nil {
		return Sent{}, err
	}
	return sent, why
}

// Validate gives the provider the OTP as it was typed, and returns the record of the
// proven identity. A wrong OTP leaves the session open and uses up no attempt.
// Faults are Missing (no such session) and Refused.
func (s *Service) Validate(ctx context.Context, company, sessionID string, otp secret.Text, key *idempotency.Key) (KYC, error) {
	proof := ""
	for {
		x, err := s.Identities.Find(ctx, company, identity.Corporate, sessionID)
		if err != nil {
			return KYC{}, err
		}
		if x.Closed() {
			return KYC{}, fault.New(fault.Refused, "Session not awaiting OTP")
		}
		if proof == "" {
			if proof, err = s.Identities.Confirm(ctx, x, otp); err != nil {
				return KYC{}, err
			}
		}
		k := KYC{
			Company: company, ID: id.New(), SessionID: x.ID, reference: proof, Status: verified,
			CreatedAt: clock.Instant{Time: s.Clock.Now()},
		}
		u := ledger.For(company)
		key.Answer(&u, k, nil)
		u.Insert(signatories.Record(k))
		s.Identities.Close(&u, x)
		event.Emit(&u, event.CorporateKYCVerified, k)
		err = idempotency.Taken(s.Book.Commit(context.WithoutCancel(ctx), u))
		if identity.Overtaken(err) || ledger.Is(err, ledger.Exists, signatories.Table) {
			continue // another OTP was sent, or proven, meanwhile: read the session again
		}
		return k, err
	}
}
