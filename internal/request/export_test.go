package request

import "context"

// WriteUses writes the last uses of API keys.
func WriteUses(s *Service, ctx context.Context) error { return s.writeUses(ctx) }
