package operation

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Person is who stands behind an operator's name: who has a key and also runs
// commands on the machine, as local:<name>, is one and not two.
func Person(by string) string { return strings.TrimPrefix(by, "local:") }

// Voices tells the machine how to know whether somebody is an operator still.
// Call it before the first case.
func (s *Service) Voices(still func(ctx context.Context, name string) (bool, error)) { s.still = still }

// Two is nil when what one operator has said and another agrees with is the word
// of two: they are not the same person, and the first has not been removed since.
// What begins the refusal: "A case must be resolved".
func (s *Service) Two(ctx context.Context, what, first, second string) error {
	if Person(first) == Person(second) {
		return fault.New(fault.Refused, what+" by a second operator")
	}
	if s.still == nil {
		return nil
	}
	is, err := s.still(ctx, first)
	if err == nil && !is {
		err = fault.Newf(fault.Refused, "%s by two operators, and %s is none any more", what, first)
	}
	return err
}
