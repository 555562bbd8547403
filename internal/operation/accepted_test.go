package operation_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/operation"
)

// Only a reply from a closed list says that the provider has accepted a payment. A card funding is never among them, because
// the issuer's plug has one code for all that is in doubt.
func TestOnlyAReplyInProgressIsAccepted(t *testing.T) {
	for _, c := range []struct {
		kind, outcome, code string
		want                bool
	}{
		{"payout", "unknown", "09", true},
		{"vtu", "unknown", "099", true},
		{"vtu", "unknown", "pending", true},
		{"payout", "unknown", "91", false},
		{"payout", "unknown", "timeout", false},
		{"payout", "", "", false},
		{"payout", "confirmed", "09", false},
		{"card", "unknown", "pending", false},
	} {
		if got := operation.IsAccepted(c.kind, c.outcome, c.code); got != c.want {
			t.Errorf("%+v", c)
		}
	}
}
