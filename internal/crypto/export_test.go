package crypto

import (
	"context"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Lose handles a transaction whose block a batch removes, as a program does that read the transaction's row some time ago.
func (s *Service) Lose(ctx context.Context, t Transaction, b provider.Batch) error {
	return s.lose(ctx, t, b)
}
