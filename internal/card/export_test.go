package card

import "context"

// Plan checks a funding request now, and returns the function that starts the funding later.
func (s *Service) Plan(ctx context.Context, o Order) (func() (Funding, error), error) {
	c, op, err := s.plan(ctx, o)
	return func() (Funding, error) { return s.fund(ctx, c, op, o.Key) }, err
}
