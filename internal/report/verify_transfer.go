package report

import (
	"context"
	"encoding/binary"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// This file compares transfers with the rows that caused them, quickly. It compares two sums of
// hashes. The first sum is over those transfers in the ledger that belong to operations. The second
// sum is over the transfers that the operations must have. Only few transfers belong to no
// operation, so an SQL query checks each of them.

// otherKinds are the kinds of transfers that do not belong to an operation, and the kind "charge".
var otherKinds = map[string]bool{"credit": true, "collection": true, "suspense": true, "assign": true, "adjustment": true, "transfer": true, "charge": true}

// strayTransfer finds a transfer of these kinds that no row has caused. A successful operation may
// have one charge. An operation with several attempts may also have a negative charge, and a second
// charge after its reversal.
const strayTransfer = transferOf + ` AND t.kind IN ('credit', 'collection', 'suspense', 'assign', 'adjustment', 'transfer', 'charge')
		AND NOT (t.kind = 'charge'
			AND EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = $1 AND o.id = t.reference AND o.state IN ('SUCCESS', 'REVERSED')
				AND (t.debit_account = 'charge/' || o.provider AND t.credit_account = 'provider/' || o.provider
					OR o.attempt > 0 AND t.credit_account = 'charge/' || o.provider AND t.debit_account = 'provider/' || o.provider)
				AND (o.attempt > 0 AND o.state = 'REVERSED' OR NOT EXISTS (SELECT 1 FROM ledger_transfer AS u
					WHERE u.company_id = $1 AND u.reference = t.reference AND u.kind = 'charge' AND u.step <> t.step))))
		AND (EXISTS (SELECT 1 FROM operation AS p WHERE p.company_id = $1 AND p.id = t.reference)
			OR (1 = 1` + ownedOtherwise + `)) LIMIT 1`

// addTransfer adds a transfer to the digest, if transfers of its kind always belong to an
// operation.
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

// transfersAgree reports whether the operations have the right transfers, and whether each of the
// remaining transfers was caused by a row, such as a credit.
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

// addOperation adds to the digest the transfers that an operation must have. The checks in owners
// describe these transfers.
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

const (
	transferOf = `
	SELECT t.reference || ' ' || t.step, 'what the transfer belongs to',
		'nothing for a ' || t.kind || ' of ' || CAST(t.amount_kobo AS TEXT) || ' kobo from ' || t.debit_account || ' to ' || t.credit_account
	FROM ledger_transfer AS t WHERE t.company_id = $1`
	ownedOtherwise = `
		AND NOT EXISTS (SELECT 1 FROM settlement_credit AS c
			WHERE c.company_id = $1 AND c.id = t.reference AND c.amount_kobo = t.amount_kobo
				AND (t.step = '' AND t.debit_account = 'provider/' || c.provider AND (
					c.settlement_id = 0 AND t.kind = 'suspense' AND t.credit_account = 'suspense/inbound'
					OR c.settlement_id <> 0 AND t.kind IN ('credit', 'collection')
						AND t.credit_account = 'settlement/' || CAST(c.settlement_id AS TEXT))
				OR t.kind = 'assign' AND t.debit_account = 'suspense/inbound' AND t.credit_account = 'provider/' || c.provider
					AND EXISTS (SELECT 1 FROM operation_case AS a WHERE a.company_id = $1
						AND a.subject = c.provider || '/' || c.session_id AND a.state = 'RESOLVED' AND a.outcome = 'assigned')))
		AND NOT EXISTS (SELECT 1 FROM settlement_adjustment AS j
			WHERE j.company_id = $1 AND j.id = t.reference AND t.step = '' AND t.kind = 'adjustment'
				AND j.state = 'APPROVED' AND j.amount_kobo = t.amount_kobo
				AND (j.direction = 'credit' AND t.debit_account = 'adjustment' AND t.credit_account = 'settlement/' || CAST(j.settlement_id AS TEXT)
				OR j.direction = 'debit' AND t.credit_account = 'adjustment' AND t.debit_account = 'settlement/' || CAST(j.settlement_id AS TEXT)))
		AND NOT EXISTS (SELECT 1 FROM settlement_transfer AS m
			WHERE m.company_id = $1 AND m.id = t.reference AND t.step = '' AND t.kind = 'transfer' AND m.amount_kobo = t.amount_kobo
				AND t.debit_account = 'settlement/' || CAST(m.from_id AS TEXT) AND t.credit_account = 'settlement/' || CAST(m.to_id AS TEXT))
		AND NOT EXISTS (SELECT 1 FROM operation_case AS b
			WHERE b.company_id = $1 AND b.id = t.step AND b.subject = t.reference AND t.kind = 'charge'
				AND b.state = 'RESOLVED' AND b.outcome = 'booked' AND abs(b.amount_kobo) = t.amount_kobo)
		AND NOT (t.kind = 'credit' AND t.step = '' AND substr(t.debit_account, 1, 9) = 'provider/'
			AND EXISTS (SELECT 1 FROM operator_audit AS l WHERE l.company_id = $1 AND l.action = 'settlement.fund'
				AND l.subject = t.credit_account AND l.details = '{"amount":"' || ` + transferDecimal + ` || '"}'))`
)

// owners are the checks that compare transfers with the rows that caused them (their owners).
var owners = []check{
	// An operation has one hold, which is a transfer of amount and fee into clearing. A successful
	// operation also has one settlement and, if there is a fee, one transfer of the fee. A failed
	// operation has one refund. A reversed operation has all transfers of a successful one, one
	// transfer back for the amount and one for the fee. A successful operation may also have one
	// charge. An operation with several attempts may cost less than its amount, which is a charge in the
	// other direction, and its reversal takes the charge back. The accounts distinguish the transfers, since old transfers have different steps.
	//
	// Each kind of transfer is counted in one decimal digit of the sum. So the sum gives the number
	// of transfers of each kind.
	{name: "operation money", find: `
	SELECT m.id, m.state || ' of ' || CAST(m.amount_kobo AS TEXT) || ' kobo and a fee of ' || CAST(m.fee_kobo AS TEXT) || ' kobo',
		CAST(m.transfers AS TEXT) || ' transfers: ' || CAST(m.digits % 10 AS TEXT) || ' hold, ' || CAST(m.digits / 10 % 10 AS TEXT) || ' settle, '
		|| CAST(m.digits / 100 % 10 AS TEXT) || ' fee, ' || CAST(m.digits / 1000 % 10 AS TEXT) || ' refund, '
		|| CAST(m.digits / 10000 % 10 AS TEXT) || ' reverse, ' || CAST(m.digits / 100000 % 10 AS TEXT) || ' reverse fee, '
		|| CAST(m.digits / 1000000 % 10 AS TEXT) || ' charge of these amounts and accounts'
	FROM (
		SELECT o.id, o.state, o.amount_kobo, o.fee_kobo, o.attempt, count(t.reference) AS transfers,
			CASE o.state WHEN 'PENDING' THEN 1 WHEN 'SUCCESS' THEN 11 WHEN 'FAILED' THEN 1001 ELSE 10011 END
				+ CASE WHEN o.fee_kobo = 0 THEN 0 WHEN o.state = 'SUCCESS' THEN 100 WHEN o.state = 'REVERSED' THEN 100100 ELSE 0 END AS due,
			CASE o.state WHEN 'PENDING' THEN 1 WHEN 'REVERSED' THEN 3 ELSE 2 END
				+ CASE WHEN o.fee_kobo = 0 THEN 0 WHEN o.state = 'SUCCESS' THEN 1 WHEN o.state = 'REVERSED' THEN 2 ELSE 0 END AS steps,
			CAST(sum(CASE
				WHEN t.reference IS NULL THEN 0
				WHEN t.kind = 'charge' AND t.debit_account = 'charge/' || o.provider AND t.credit_account = 'provider/' || o.provider THEN 1000000
				WHEN t.kind = 'charge' AND o.attempt > 0 AND t.credit_account = 'charge/' || o.provider AND t.debit_account = 'provider/' || o.provider THEN 1000000
				WHEN t.kind <> o.kind THEN 10000000
				WHEN t.credit_account = 'clearing/' || o.kind THEN CASE WHEN t.amount_kobo = o.amount_kobo + o.fee_kobo
					AND t.debit_account = 'settlement/' || CAST(o.settlement_id AS TEXT) THEN 1 ELSE 10000000 END
				WHEN t.debit_account = 'clearing/' || o.kind THEN CASE
					WHEN t.amount_kobo = o.amount_kobo AND t.credit_account = 'provider/' || o.provider THEN 10
					WHEN t.amount_kobo = o.fee_kobo AND t.credit_account = 'fee' THEN 100
					WHEN t.amount_kobo = o.amount_kobo + o.fee_kobo AND t.credit_account = 'settlement/' || CAST(o.settlement_id AS TEXT) THEN 1000
					ELSE 10000000 END
				WHEN t.credit_account <> 'settlement/' || CAST(o.settlement_id AS TEXT) THEN 10000000
				WHEN t.amount_kobo = o.amount_kobo AND t.debit_account = 'provider/' || o.provider THEN 10000
				WHEN t.amount_kobo = o.fee_kobo AND t.debit_account = 'fee' THEN 100000
				ELSE 10000000 END) AS BIGINT) AS digits
		FROM operation AS o
		LEFT JOIN ledger_transfer AS t ON t.company_id = o.company_id AND t.reference = o.id
		WHERE o.company_id = $1 GROUP BY o.company_id, o.id
	) AS m
	WHERE NOT (m.digits = m.due AND m.transfers = m.steps
		OR m.state IN ('SUCCESS', 'REVERSED') AND m.digits = m.due + 1000000 AND m.transfers = m.steps + 1
		OR m.state = 'REVERSED' AND m.attempt > 0 AND m.digits = m.due + 2000000 AND m.transfers = m.steps + 2)
	ORDER BY m.id` + upTo},
	// Each transfer belongs to an operation, a credit, an assigned credit, an approved adjustment, a
	// transfer between own accounts, a booked day of charges, or an opening balance.
	{name: "transfer owner", find: transferOf + ` AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = t.company_id AND o.id = t.reference)` +
		ownedOtherwise + ` ORDER BY t.reference, t.step` + upTo},
}
