package report

import (
	"context"
	"encoding/binary"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// This test is a quick comparison of transfers with their owners. It sums the hashes of the
// operations' transfers, and those of the transfers that the operations must have. Other
// transfers are few, and a statement checks each.

// otherKinds are the kinds of transfers without an operation, and charges.
var otherKinds = map[string]bool{"credit": true, "collection": true, "suspense": true, "assign": true, "adjustment": true, "charge": true}

// strayTransfer finds a transfer of these kinds without its owner. An operation may have one
// charge after its success.
const strayTransfer = transferOf + ` AND t.kind IN ('credit', 'collection', 'suspense', 'assign', 'adjustment', 'charge')
		AND NOT (t.kind = 'charge'
			AND EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = t.company_id AND o.id = t.reference AND o.state IN ('SUCCESS', 'REVERSED')
				AND t.debit_account = 'charge/' || o.provider AND t.credit_account = 'provider/' || o.provider)
			AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS u
				WHERE u.company_id = t.company_id AND u.reference = t.reference AND u.kind = 'charge' AND u.step <> t.step))
		AND (EXISTS (SELECT 1 FROM operation AS p WHERE p.company_id = t.company_id AND p.id = t.reference)
			OR (1 = 1` + ownedOtherwise + `)) LIMIT 1`

// addTransfer adds a transfer if its kind always has an operation as its owner.
func (t *digest) addTransfer(m ledger.Transfer) {
	if !otherKinds[m.Kind] {
		t.move(m.Reference, m.Kind, m.Debit, m.Credit, m.Amount)
	}
}

func (t *digest) move(reference, kind, debit, credit string, amount money.Kobo) {
	t.fact = t.fact[:0]
	for _, part := range [...]string{reference, kind, debit, credit} {
		t.fact = append(append(t.fact, part...), 0)
	}
	t.fact = binary.LittleEndian.AppendUint64(t.fact, uint64(amount))
	t.add(t.fact)
}

// transfersAgree tells whether the operations have the right transfers, and whether every
// other transfer has its owner.
func transfersAgree(ctx context.Context, q db.Querier, company string, moved *digest) (bool, error) {
	due, last := newDigest(moved.seed), ""
	err := db.Pages(ctx, q, `
		SELECT id, kind, state, provider, settlement_id, amount_kobo, fee_kobo
		FROM operation WHERE company_id = $1 AND id >= $2 ORDER BY id`, 7,
		func() []any { return []any{company, last} },
		func(row []string) error {
			last = row[0]
			var settlementID, amount, fee int64
			err := db.Numbers(row[4:], &settlementID, &amount, &fee)
			due.addOperation(row[0], row[1], row[2], row[3], settlement.LedgerAccount(settlementID), money.Kobo(amount), money.Kobo(fee))
			return err
		})
	if err != nil || moved.sum != due.sum {
		return false, err
	}
	stray, err := findings(ctx, q, strayTransfer, company, "transfer owner")
	return len(stray) == 0, err
}

// addOperation adds the transfers that an operation must have (see operationMoney).
func (t *digest) addOperation(id, kind, state, provider, from string, amount, fee money.Kobo) {
	clearing, bank := settlement.ClearingAccount(kind), settlement.ProviderAccount(provider)
	t.move(id, kind, from, clearing, amount+fee)
	if state == "FAILED" {
		t.move(id, kind, clearing, from, amount+fee)
	}
	settled, reversed := state == "SUCCESS" || state == "REVERSED", state == "REVERSED"
	if settled {
		t.move(id, kind, clearing, bank, amount)
	}
	if settled && fee != 0 {
		t.move(id, kind, clearing, "fee", fee)
	}
	if reversed {
		t.move(id, kind, bank, from, amount)
	}
	if reversed && fee != 0 {
		t.move(id, kind, "fee", from, fee)
	}
}
