package settlement

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Taking is a Booking with its effects as rows.
type Taking struct {
	SettlementID    int64
	Kind, Narration string
	Claims          []db.Record
	Moves           []ledger.Move
	Notes           []db.Record
}

// Take is AddRecipient with a Taking.
func (s *Service) Take(take func(ctx context.Context, company string, c Credit) (t Taking, ok bool, err error)) {
	s.AddRecipient(func(ctx context.Context, company string, c Credit) (Booking, bool, error) {
		t, ok, err := take(ctx, company, c)
		return Booking{t.SettlementID, t.Kind, t.Narration, func(u *ledger.Unit) {
			u.Insert(t.Claims...)
			u.Moves = append(u.Moves, t.Moves...)
			u.Append(t.Notes...)
		}}, ok, err
	})
}

// Redirect is RedirectFeed as rows.
func (s *Service) Redirect(ctx context.Context, by operator.Operator, company string, settlementID int64, b BankAccount) ([]ledger.Move, []db.Record, error) {
	u := ledger.For(company)
	err := s.RedirectFeed(ctx, &u, by, settlementID, b)
	return u.Moves, u.Notes, err
}
