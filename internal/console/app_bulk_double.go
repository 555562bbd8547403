package console

import (
	"strconv"

	"github.com/kobo-waas/kobo/internal/operation"
)

// note says what somebody should know about a line.
func (b bulk) note(l bulkLine) string {
	switch {
	case l.Reason != nil:
		return *l.Reason
	case l.DoubleOfLine != nil:
		return "the same account and amount as line " + strconv.Itoa(b.numberOf(*l.DoubleOfLine))
	case l.DoubleOf != nil:
		out := "the same account and amount as the payout " + ending(*l.DoubleOf) + " of the last 7 days"
		if b.isDoubtful(l) {
			out += ", whose outcome is in doubt: it may have been paid already"
		}
		return out
	}
	return ""
}

// isDoubtful reports whether the line is the double of a payout whose outcome is in doubt.
func (b bulk) isDoubtful(l bulkLine) bool { return b.doubts[optional(l.DoubleOf)] != operation.Sure }

// withDoubts adds to a bulk payout which of the payouts that it may repeat have an outcome in doubt.
func (v *visit) withDoubts(b bulk) (bulk, error) {
	var doubles []string
	for _, l := range b.Rows {
		if l.DoubleOf != nil {
			doubles = append(doubles, *l.DoubleOf)
		}
	}
	if len(doubles) == 0 {
		return b, nil
	}
	var err error
	b.doubts, err = v.Reports.Doubts(v.Context(), v.who.Company, doubles)
	return b, err
}
