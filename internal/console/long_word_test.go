package console_test

import (
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// Anybody can send a transfer under a name without a space. The name is broken, so that the amounts beside it stay on the screen.
func TestALongNameLeavesRoomForTheAmounts(t *testing.T) {
	w := open(t)
	name := "ADAEZE " + strings.Repeat("VERYLONG", 15)
	w.asCompany("POST", "/sandbox/credit", "", map[string]any{
		"accountNumber": w.company.SettlementAccountNumber, "amount": 2_500, "senderName": name, "narration": strings.Repeat("x", 90),
	}, nil)
	dev, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)
	for path, p := range map[string]*person{"/console/payments": dev, "/app/money": ada, "/app/money/ledger?settlementId=1": ada} {
		later(t, func() string {
			if text := p.read(path); !strings.Contains(text, `<span class="long">`) {
				return path + " shows no long word that can be broken: " + text
			}
			return ""
		})
	}
}
