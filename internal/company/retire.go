package company

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// RetirePIN locks a company's PIN if its hash was made with the given master key, which will be
// removed. A PIN that was renewed by a use meanwhile stays as it is.
func (s *Service) RetirePIN(ctx context.Context, by Actor, reference, masterKey string) error {
	p, err := s.findPIN(ctx, reference)
	switch {
	case errors.Is(err, db.ErrNone):
		return nil
	case err != nil:
		return err
	case p.state == pinLocked || secret.KeyOf(p.hash) != masterKey:
		return nil
	}
	seen, now, u := p.hash, s.clock.Now(), ledger.For(reference)
	p.state, p.failures, p.updatedAt = pinLocked, max(p.failures, tries), now
	u.Transition(pins.Record(p), pinSet).Only("failures", "updated_at").Expect("hash", seen)
	by.Audit(&u, "company.pin.retire", reference, map[string]string{"masterKey": masterKey}, now)
	event.Emit(&u, event.PINLocked, pinLockedData{p.company, p.failures})
	return ledger.Except(s.book.Commit(ctx, u), ledger.Moved)
}
