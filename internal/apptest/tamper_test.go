package apptest_test

// These alterations change or add rows of evidence. Their author can write the whole database, and has
// no evidence key. Only the MACs or the numbers of the rows show them.

// forgedID is the reference of a forged credit.
const forgedID = `'ffffffff-0000-7000-8000-000000000000'`

// shape is the credit whose rows a forger copies, with the accounts of its transfer.
const shape = `(SELECT c.* FROM settlement_credit AS c JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id AND t.kind = 'credit'
	WHERE c.company_id = $1 AND c.settlement_id <> 0 ORDER BY c.id LIMIT 1)`

// forgedCredit credits ₦10,000,000 with all rows of a real credit at the end of all sequences. Each
// counter and each balance is right. The MACs are those of other rows.
var forgedCredit = []string{
	`INSERT INTO settlement_credit SELECT company_id, ` + forgedID + `, session_id || '9', provider, account_number, settlement_id, 1000000000,
		sender_name, sender_account, sender_bank, narration, reference, told_at, created_at FROM ` + shape + ` AS c`,
	`INSERT INTO settlement_session SELECT provider, session_id, company_id FROM settlement_credit WHERE company_id = $1 AND id = ` + forgedID,
	`INSERT INTO ledger_transfer SELECT c.company_id, c.id, '', p.id, w.id, c.amount_kobo, 'credit', '', p.entry_sequence + 1, w.entry_sequence + 1, 7,
			h.dated_at, h.leaf + 1, (SELECT max(mac) FROM ledger_transfer WHERE company_id = $1)
		FROM settlement_credit AS c JOIN ledger_head AS h ON h.company_id = c.company_id
		JOIN ledger_account AS p ON p.company_id = c.company_id AND p.id = 'provider/' || c.provider
		JOIN ledger_account AS w ON w.company_id = c.company_id AND w.id = 'settlement/' || CAST(c.settlement_id AS TEXT)
		WHERE c.company_id = $1 AND c.id = ` + forgedID,
	`INSERT INTO ledger_entry SELECT a.company_id, a.id, a.entry_sequence + 1, t.reference, t.step, CASE a.id WHEN t.debit_account THEN -1000000000 ELSE 1000000000 END,
			a.balance_kobo, a.balance_kobo + CASE a.id WHEN t.debit_account THEN -1000000000 ELSE 1000000000 END, t.created_at
		FROM ledger_transfer AS t JOIN ledger_account AS a ON a.company_id = t.company_id AND a.id IN (t.debit_account, t.credit_account)
		WHERE t.company_id = $1 AND t.reference = ` + forgedID,
	`UPDATE ledger_account SET entry_sequence = entry_sequence + 1,
			balance_kobo = (SELECT e.current_kobo FROM ledger_entry AS e WHERE e.company_id = $1 AND e.account_id = ledger_account.id AND e.reference = ` + forgedID + `)
		WHERE company_id = $1 AND id IN (SELECT account_id FROM ledger_entry WHERE company_id = $1 AND reference = ` + forgedID + `)`,
	`INSERT INTO event SELECT c.company_id, h.event_sequence + 1, ` + forgedID + `, 'settlement.credit', '{"id":"' || c.id || '","settlementId":' || CAST(c.settlement_id AS TEXT)
			|| ',"amount":10000000,"accountNumber":"' || c.account_number || '","sessionId":"' || c.session_id || '"}', h.dated_at, h.leaf + 2,
			(SELECT max(mac) FROM event WHERE company_id = $1)
		FROM settlement_credit AS c JOIN ledger_head AS h ON h.company_id = c.company_id WHERE c.company_id = $1 AND c.id = ` + forgedID,
	`UPDATE ledger_head SET event_sequence = event_sequence + 1, leaf = leaf + 2 WHERE company_id = $1`,
}

// with returns the SQL statements before, followed by more.
func with(before []string, more ...string) []string {
	return append(before[:len(before):len(before)], more...)
}

// These SQL expressions name rows by their evidence numbers.
const (
	aTransfer = `company_id = $1 AND leaf = (SELECT min(leaf) FROM ledger_transfer WHERE company_id = $1)`
	anEvent   = `company_id = $1 AND leaf = (SELECT min(leaf) FROM event WHERE company_id = $1)`
	aLine     = `company_id = $1 AND leaf = (SELECT max(leaf) FROM operator_audit WHERE company_id = $1)`
)

const missing = "expected a row with each number"

var tampers = []alteration{
	{"credit of ₦10,000,000 forged with all its rows", "evidence: ledger_transfer ffffffff", forgedCredit},
	{"credit forged, its rows not numbered", "expected a row with a number and a MAC", with(forgedCredit,
		`UPDATE ledger_transfer SET leaf = 0, mac = '' WHERE company_id = $1 AND reference = `+forgedID,
		`UPDATE event SET leaf = 0, mac = '' WHERE company_id = $1 AND id = `+forgedID,
		`UPDATE ledger_head SET leaf = leaf - 2 WHERE company_id = $1`)},
	{"narration of a transfer", "the right MAC", []string{`UPDATE ledger_transfer SET narration = 'rent' WHERE ` + aTransfer}},
	{"instant of a transfer with its entries", "the right MAC", []string{
		`UPDATE ledger_entry SET created_at = created_at - 1 WHERE company_id = $1 AND reference = (SELECT reference FROM ledger_transfer WHERE ` + aTransfer + `)`,
		`UPDATE ledger_transfer SET created_at = created_at - 1 WHERE ` + aTransfer,
	}},
	{"instant of an entry", "does not have exactly its debit and its credit", []string{
		`UPDATE ledger_entry SET created_at = created_at - 1 WHERE company_id = $1 AND account_id = ` + wallet + ` AND sequence = 3`,
	}},
	{"balances of an entry", "begins at", []string{
		`UPDATE ledger_entry SET previous_kobo = previous_kobo + 5, current_kobo = current_kobo + 5 WHERE company_id = $1 AND account_id = ` + wallet + ` AND sequence = 3`,
	}},
	{"number of a transfer", "the right MAC", []string{`UPDATE ledger_transfer SET leaf = leaf + 1000000 WHERE ` + aTransfer}},
	{"transfer made unsigned", "expected a row with a number and a MAC", []string{`UPDATE ledger_transfer SET leaf = 0, mac = '' WHERE ` + aTransfer}},
	{"MAC of an event removed", "the right MAC", []string{`UPDATE event SET mac = '' WHERE ` + anEvent}},
	{"instant of an event", "the right MAC", []string{`UPDATE event SET created_at = created_at + 1 WHERE ` + anEvent}},
	{"operator of an audit line", "the right MAC", []string{`UPDATE operator_audit SET operator = 'local:eve' WHERE ` + aLine}},
	{"details of an audit line", "the right MAC", []string{`UPDATE operator_audit SET details = '{}' WHERE ` + aLine}},
	{"audit line invented", "the right MAC", []string{
		`INSERT INTO operator_audit SELECT company_id, id || '0', operator, action, subject, details, created_at, leaf + 1, mac FROM operator_audit WHERE ` + aLine,
		`UPDATE ledger_head SET leaf = leaf + 1 WHERE company_id = $1`,
	}},
	{"audit line doubled under its number", "the right MAC", []string{
		`INSERT INTO operator_audit SELECT company_id, id || '0', operator, action, subject, details, created_at, leaf, mac FROM operator_audit WHERE ` + aLine,
	}},
	{"audit line deleted", missing, []string{`DELETE FROM operator_audit WHERE ` + aLine}},
	{"event deleted and recorded as archived", missing, []string{
		`INSERT INTO archive_month (company_id, month, first_sequence, last_sequence, hash, archived_at)
			SELECT company_id, '2020-01', 1, 1, '', 0 FROM event WHERE company_id = $1 AND sequence = 1`,
		`INSERT INTO archive_kind SELECT company_id, '2020-01', kind, 1 FROM event WHERE company_id = $1 AND sequence = 1`,
		`DELETE FROM event WHERE company_id = $1 AND sequence = 1`,
	}},
	{"event deleted and its number recorded as archived", "an altered or added month", []string{
		`INSERT INTO archive_month (company_id, month, first_sequence, last_sequence, hash, archived_at, leaves, mac)
			SELECT company_id, '2020-01', 1, 1, '', 0, CAST(leaf AS TEXT), mac FROM event WHERE company_id = $1 AND sequence = 1`,
		`INSERT INTO archive_kind SELECT company_id, '2020-01', kind, 1 FROM event WHERE company_id = $1 AND sequence = 1`,
		`DELETE FROM event WHERE company_id = $1 AND sequence = 1`,
	}},
	{"head number up", missing, []string{`UPDATE ledger_head SET leaf = leaf + 1 WHERE company_id = $1`}},
	{"head number far up", missing, []string{`UPDATE ledger_head SET leaf = 4611686018427387904 WHERE company_id = $1`}},
	{"head number down", "expected a number from 1 to", []string{`UPDATE ledger_head SET leaf = leaf - 1 WHERE company_id = $1`}},
}
