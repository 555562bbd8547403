package operation

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Person is the person behind an operator's name. An operator with a key who also runs
// commands on the machine, as local:<name>, is one person.
func Person(by string) string { return strings.TrimPrefix(by, "local:") }

// FourEyes is nil if one operator may approve the proposal of another: they are two
// persons, and the first is still an operator. The refusal begins with what: "A case must
// be resolved".
func (s *Service) FourEyes(ctx context.Context, what, first, second string) error {
	if Person(first) == Person(second) {
		return fault.New(fault.Refused, what+" by a second operator")
	}
	is, err := s.isOperator(ctx, first)
	if err == nil && !is {
		err = fault.Newf(fault.Refused, "%s by two operators, and %s is none any more", what, first)
	}
	return err
}
