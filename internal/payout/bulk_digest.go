package payout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/money"
)

// digest identifies what the confirmation of a bulk payout pays: each good line with its account, amount and narration,
// and the account that pays. A second person approves this digest, so a line that somebody alters meanwhile is not paid.
func (b bulkState) digest() (string, error) {
	type paid struct {
		Line                                                       int64
		Reference, BankCode, AccountNumber, AccountName, Narration string
		Amount                                                     money.Kobo
	}
	lines := []paid{}
	for _, l := range b.good() {
		lines = append(lines, paid{l.Line, l.Reference, l.BankCode, l.AccountNumber, l.AccountName, l.Narration, l.Amount})
	}
	text, err := json.Marshal(map[string]any{"from": b.bulk.SettlementID, "lines": lines})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
