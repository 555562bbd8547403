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

// Sent is the result of a request that sent an OTP.
type Sent struct {
	SessionID string
	Message   string // the provider's message
}

// Initiate asks the provider to send an OTP to the phone on a BVN. A company has only one open OTP
// session for a BVN. A second request for this BVN uses the next attempt of the same session. Once
// a session has used all its attempts, a new session replaces it a day after the last OTP. Initiate
// returns a Limited fault if the request comes too soon or too often. It returns a Refused fault if
// the provider did not send the OTP.
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

// Resend asks the provider to send a new OTP. The earlier OTP becomes invalid. Resend returns a
// Missing fault if the session does not exist. It returns a Limited fault if the request comes too
// soon or too often. It returns a Refused fault if the session is closed or the provider did not
// send the OTP.
func (s *Service) Resend(ctx context.Context, company, sessionID string, key *idempotency.Key) (Sent, error) {
	if begun := key.Subject(); begun != "" {
		return s.resume(ctx, company, begun, identity.Again, key)
	}
	x, err := s.Identities.Find(ctx, company, identity.Corporate, sessionID)
	if err != nil {
		return Sent{}, err
	}
	if x.Closed() {
		return Sent{}, fault.New(fault.Refused, "Session closed").With(fault.SessionClosed)
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

// resume returns the outcome for a retry with the same Idempotency-Key. The first request used an
// OTP attempt, but ended before its response was stored. The retry does not send a second OTP.
func (s *Service) resume(ctx context.Context, company, sessionID string, w identity.Words, key *idempotency.Key) (Sent, error) {
	x, err := s.Identities.Find(ctx, company, identity.Corporate, sessionID)
	if err != nil {
		return Sent{}, err
	}
	sent, why := Sent{x.ID, w.Sent}, error(nil)
	if x.State == identity.Pending {
		why = fault.New(fault.Refused, w.Failed).With(fault.OTPNotSent)
	}
	if err := s.Keys.Finish(ctx, key, sent, why); err != nil {
		return Sent{}, err
	}
	return sent, why
}

// Validate sends the OTP to the provider unchanged, and returns the KYC record of the proven
// identity. After a wrong OTP, the session stays open and no attempt is used. Validate returns a
// Missing fault if the session does not exist. It may also return a Refused or Limited fault.
func (s *Service) Validate(ctx context.Context, company, sessionID string, otp secret.Text, key *idempotency.Key) (KYC, error) {
	var proof identity.Proof
	for {
		x, err := s.Identities.Find(ctx, company, identity.Corporate, sessionID)
		if err != nil {
			return KYC{}, err
		}
		if x.Closed() {
			return KYC{}, fault.New(fault.Refused, "Session not awaiting OTP").With(fault.SessionClosed)
		}
		if proof.Reference == "" {
			if proof, err = s.Identities.Confirm(ctx, x, otp); err != nil {
				return KYC{}, err
			}
		}
		k := KYC{
			Company: company, ID: id.New(), SessionID: x.ID, reference: proof.Reference, Status: verified,
			CreatedAt: clock.Instant{Time: s.Clock.Now()},
		}
		u := ledger.For(company)
		key.Answer(&u, k, nil)
		u.Insert(signatories.Record(k))
		s.Identities.Close(&u, x)
		event.Emit(&u, event.CorporateKYCVerified, k)
		err = idempotency.Taken(s.Book.Commit(context.WithoutCancel(ctx), u))
		if identity.Overtaken(err) || ledger.Is(err, ledger.Exists, signatories.Table) {
			continue // a concurrent request sent or confirmed an OTP, so read the session again
		}
		return k, err
	}
}
