package operation

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Person is the person behind an operator's name. An operator with a key who also
// runs commands on the machine, as local:<name>, is one person.
func Person(by string) string { return strings.TrimPrefix(by, "local:") }

// CheckOperators tells the machine how to know whether a name is still an operator's.
// Call it before the first case.
func (s *Service) CheckOperators(is func(ctx context.Context, name string) (bool, error)) {
	s.isOperator = is
}

// FourEyes is nil when one operator may approve what another one proposed: they are
// two persons, and the first has not been removed since. The refusal begins with
// what: "A case must be resolved".
func (s *Service) FourEyes(ctx context.Context, what, first, second string) error {
	if Person(first) == Person(second) {
		return fault.New(fault.Refused, what+" by a second operator")
	}
	if s.isOperator == nil {
		return nil
	}
	is, err := s.isOperator(ctx, first)
	if err == nil && !is {
		err = fault.Newf(fault.Refused, "%s by two operators, and %s is none any more", what, first)
	}
	return err
}
