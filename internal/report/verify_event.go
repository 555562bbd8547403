package report

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
)

// These checks compare events with the rows that caused them. A check searches the JSON of an
// event's data for the text of a fact. Texts that JSON escapes are not compared.

// meanings has a row for each kind of an operation's events. The row contains the kind and the
// state of the operation, and the step of the transfer in the same commit. It also contains the
// place of the operation's id in the event's data.
const meanings = `WITH meaning (event, operation, state, step, place) AS (VALUES
		('payout.pending', 'payout', 'PENDING', '', 15), ('payout.success', 'payout', 'SUCCESS', 'settle', 15),
		('payout.failed', 'payout', 'FAILED', 'refund', 15), ('payout.reversed', 'payout', 'REVERSED', 'reverse', 15),
		('vtu.pending', 'vtu', 'PENDING', '', 19), ('vtu.success', 'vtu', 'SUCCESS', 'settle', 19), ('vtu.failed', 'vtu', 'FAILED', 'refund', 19),
		('vtu.reversed', 'vtu', 'REVERSED', 'reverse', 19),
		('card.funding_pending', 'card', 'PENDING', '', 15), ('card.funded', 'card', 'SUCCESS', 'settle', 15),
		('card.funding_failed', 'card', 'FAILED', 'refund', 15))`

// These SQL expressions write amounts in the two forms that events use. One form is naira with two
// decimals. The other form is a number of naira without zeros at its end.
const (
	operationDecimal = `CAST(o.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + o.amount_kobo % 100 AS TEXT), 2)`
	operationNaira   = `rtrim(rtrim(` + operationDecimal + `, '0'), '.')`
	operationFee     = `rtrim(rtrim(CAST(o.fee_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + o.fee_kobo % 100 AS TEXT), 2), '0'), '.')`
	creditNaira      = `rtrim(rtrim(CAST(c.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + c.amount_kobo % 100 AS TEXT), 2), '0'), '.')`
)

// creditKinds are the kinds of events about credits. Each credit in a company's own ledger has
// one of these events.
const creditKinds = `('settlement.credit', 'transaction.credit', 'virtual_account.success', 'virtual_account.late_payment')`

// toldByKind counts a company's events of each kind, also those that kobo archive has moved into
// files. An archived event that is not removed yet counts once.
const toldByKind = `SELECT kind, count(*) AS n FROM event WHERE company_id = $1
		AND sequence > (SELECT coalesce(max(last_sequence), 0) FROM archive_month WHERE company_id = $1) GROUP BY kind
	UNION ALL SELECT kind, events FROM archive_kind WHERE company_id = $1`

// creditChecks run in the part of Verify that adds up the ledger, after that sum. So both parallel
// parts of Verify take about the same time.
var creditChecks = []check{
	// For each session ID, Kobo decides only once which company gets the credit. The check finds
	// credits of a different company. One exception is a session ID that Kobo first gave to itself
	// (the company "house"), and whose credit operators then assigned to the company.
	{name: "credit session", find: `
	SELECT c.id, 'session ' || c.session_id || ' of ' || c.provider || ' decided for this company',
		coalesce('decided for ' || s.company_id, 'not decided')
	FROM settlement_credit AS c
	LEFT JOIN settlement_session AS s ON s.provider = c.provider AND s.session_id = c.session_id
	WHERE c.company_id = $1 AND coalesce(s.company_id, '') <> c.company_id AND NOT (
		coalesce(s.company_id, '') = 'house' AND c.provider || '/' || c.session_id IN (SELECT a.subject FROM operation_case AS a
			WHERE a.company_id = 'house' AND a.state = 'RESOLVED' AND a.outcome = 'assigned' AND a.target_company = $1))
	ORDER BY c.id` + upTo},
	// Each event about a credit agrees with the credit. The SQL query also reads the entry of the
	// credit in the settlement account. The events must be in the same order as these entries.
	{name: "credit event", ordered: db.Fields[toldEvent], find: `
	SELECT e.sequence, e.kind, coalesce(t.credit_account, ''), coalesce(t.credit_entry, 0),
		CASE WHEN c.id IS NULL THEN 'a credit that it is about' WHEN strpos(e.data, '"amount":' || ` + creditNaira + ` || ',') > 0
				AND (strpos(e.data, '\') > 0 OR strpos(e.data, '"sessionId":"' || c.session_id || '"') > 0)
				AND CASE e.kind WHEN 'settlement.credit' THEN strpos(e.data, '"settlementId":' || CAST(c.settlement_id AS TEXT) || ',') > 0
						AND strpos(e.data, '"accountNumber":"' || c.account_number || '"') > 0
					ELSE d.id IS NOT NULL AND strpos(e.data, '"customer":{"id":"' || d.customer_id || '"') > 0 END THEN ''
			ELSE 'the words of a credit of ' || CAST(c.amount_kobo AS TEXT) || ' kobo, ' || c.id END
	FROM (
		SELECT company_id, sequence, kind, data, substr(data, 8, strpos(substr(data, 8, 80) || '"', '"') - 1) AS subject
		FROM event WHERE company_id = $1 AND kind IN ('settlement.credit', 'transaction.credit')
	) AS e
	LEFT JOIN settlement_credit AS c ON c.company_id = e.company_id AND c.id = e.subject
	LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id AND t.step = ''
	LEFT JOIN customer_transaction AS d ON e.kind = 'transaction.credit' AND d.company_id = c.company_id AND d.id = c.id
		AND d.amount_kobo = c.amount_kobo AND d.session_id = c.session_id AND d.settlement_id = c.settlement_id
	ORDER BY e.sequence`},
	// The number of events of each kind equals the number of rows that cause such an event.
	{name: "event count", find: meanings + `, done AS (
		SELECT kind, state, count(*) AS n FROM operation WHERE company_id = $1 GROUP BY kind, state
	), due AS (
		SELECT m.event AS event, CAST(coalesce(sum(d.n), 0) AS BIGINT) AS n FROM meaning AS m LEFT JOIN done AS d ON d.kind = m.operation
			AND (m.state = 'PENDING' OR m.state = d.state OR m.state = 'SUCCESS' AND d.state = 'REVERSED') GROUP BY m.event
		UNION ALL SELECT 'kyb.changed', count(*) FROM operator_audit WHERE company_id = $1 AND action = 'company.kyb'
		UNION ALL SELECT 'customer.created', count(*) FROM customer WHERE company_id = $1
		UNION ALL SELECT 'customer.account_generated', count(*) FROM customer_account WHERE company_id = $1 AND state = 'OPEN'
		UNION ALL SELECT 'transaction.credit', count(*) FROM customer_transaction WHERE company_id = $1
		UNION ALL SELECT 'corporate.kyc_verified', count(*) FROM corporate_kyc WHERE company_id = $1
		UNION ALL SELECT 'corporate.account_created', count(*) FROM corporate_account WHERE company_id = $1 AND state = 'ACTIVE'
		UNION ALL SELECT 'card.generated', count(*) FROM card WHERE company_id = $1 AND state = 'ISSUED'
		UNION ALL SELECT 'virtual_account.success', count(*) FROM collection WHERE company_id = $1 AND state = 'SUCCESS'
		UNION ALL SELECT 'virtual_account.failed', count(*) FROM collection WHERE company_id = $1 AND state = 'FAILED'
		UNION ALL SELECT 'crypto.deposit_pending', count(*) FROM crypto_transaction WHERE company_id = $1 AND kind = 'deposit'
		UNION ALL SELECT 'crypto.deposit_completed', count(*) FROM crypto_transaction WHERE company_id = $1 AND kind = 'deposit' AND state = 'completed'
		UNION ALL SELECT 'crypto.deposit_failed', count(*) FROM crypto_transaction WHERE company_id = $1 AND kind = 'deposit' AND state = 'failed'
		UNION ALL SELECT 'crypto.withdrawal_completed', count(*) FROM crypto_transaction WHERE company_id = $1 AND kind = 'withdrawal' AND state = 'completed'
		UNION ALL SELECT 'crypto.withdrawal_failed', count(*) FROM crypto_transaction WHERE company_id = $1 AND kind = 'withdrawal' AND state = 'failed'
	), said AS (
		SELECT kind, CAST(sum(n) AS BIGINT) AS n FROM (` + toldByKind + `) AS k GROUP BY kind
	)
	SELECT due.event, CAST(due.n AS TEXT) || ' events', CAST(coalesce(said.n, 0) AS TEXT) FROM due LEFT JOIN said ON said.kind = due.event
	WHERE due.n <> coalesce(said.n, 0) ORDER BY due.event` + upTo, then: meanings + `, told AS (
		SELECT m.event, ` + eventSubject + ` AS subject, count(*) AS n
		FROM event AS v CROSS JOIN meaning AS m WHERE v.company_id = $1 AND m.event = v.kind GROUP BY 1, 2
	)
	SELECT o.id, 'one event ' || m.event, CAST(coalesce(told.n, 0) AS TEXT)
	FROM operation AS o CROSS JOIN meaning AS m LEFT JOIN told ON told.event = m.event AND told.subject = o.id
	WHERE o.company_id = $1 AND m.operation = o.kind
		AND (m.state = 'PENDING' OR m.state = o.state OR m.state = 'SUCCESS' AND o.state = 'REVERSED')
		AND coalesce(told.n, 0) <> 1 ORDER BY o.id` + upTo},
	// For each credit in a company's own ledger, there is exactly one event.
	{name: "event count", find: `
	SELECT 'credits', CAST(c.n AS TEXT), CAST(e.n AS TEXT) FROM
		(SELECT count(*) AS n FROM settlement_credit WHERE company_id = $1 AND settlement_id <> 0) AS c,
		(SELECT CAST(coalesce(sum(n), 0) AS BIGINT) AS n FROM (` + toldByKind + `) AS k WHERE kind IN ` + creditKinds + `) AS e
	WHERE c.n <> e.n`, then: `
	WITH told AS (
		SELECT substr(data, strpos(data, '"sessionId":"') + 13, strpos(substr(data, strpos(data, '"sessionId":"') + 13) || '"', '"') - 1) AS session, count(*) AS n
		FROM event WHERE company_id = $1 AND kind IN ` + creditKinds + ` GROUP BY 1
	)
	SELECT c.id, 'one event of the session ' || c.session_id, CAST(coalesce(told.n, 0) AS TEXT)
	FROM settlement_credit AS c LEFT JOIN told ON told.session = c.session_id
	WHERE c.company_id = $1 AND c.settlement_id <> 0 AND coalesce(told.n, 0) <> 1 ORDER BY c.id` + upTo},
}

// eventChecks compare the events with the rows that caused them.
var eventChecks = []check{
	// Each event of an operation agrees with the operation. The operation's first event must also
	// agree with the payee or the purchase. The SQL query also reads the entry of the same commit in
	// the clearing account. The events must be in the same order as these entries.
	{name: "operation event", ordered: wordsOf, agree: eventsAgree, find: operationEvents},
	// Each event of a virtual account belongs to a collection in the right state. The paid amount
	// is the amount of a credit.
	{name: "collection event", when: `SELECT id, '', '' FROM collection WHERE company_id = $1 LIMIT 1`, find: `
	SELECT CAST(e.sequence AS TEXT) || ' ' || e.event || ' of ' || e.subject,
		coalesce('the words of a ' || v.state || ' collection and of its credit', 'a collection that it is about'),
		CASE WHEN v.id IS NULL THEN 'none' ELSE 'other words' END
	FROM (
		SELECT company_id, sequence, kind AS event, data, substr(data, 8, strpos(substr(data, 8, 80) || '"', '"') - 1) AS subject,
			CASE WHEN strpos(data, '"sessionId":"') > 0 THEN substr(data, strpos(data, '"sessionId":"') + 13,
				strpos(substr(data, strpos(data, '"sessionId":"') + 13) || '"', '"') - 1) ELSE '' END AS session
		FROM event WHERE company_id = $1 AND kind IN ('virtual_account.success', 'virtual_account.failed', 'virtual_account.late_payment')
	) AS e
	LEFT JOIN collection AS v ON v.company_id = e.company_id AND v.id = e.subject
	LEFT JOIN settlement_credit AS c ON c.company_id = e.company_id AND c.provider = v.provider AND c.session_id = e.session
	WHERE v.id IS NULL
		OR e.event = 'virtual_account.success' AND v.state <> 'SUCCESS'
		OR e.event = 'virtual_account.failed' AND v.state <> 'FAILED'
		OR e.event <> 'virtual_account.failed' AND strpos(e.data, '\') = 0 AND (c.id IS NULL
			OR c.account_number <> v.account_number OR strpos(e.data, '"paidAmount":' || ` + creditNaira + ` || ',') = 0
			OR strpos(e.data, '"settlementId":' || CAST(c.settlement_id AS TEXT) || ',') = 0
			OR e.event = 'virtual_account.success' AND c.id <> v.credit_id)
	ORDER BY e.sequence` + upTo},
	// Each event of a crypto transaction agrees with the transaction.
	{name: "crypto event", when: `SELECT address, '', '' FROM crypto_transaction WHERE company_id = $1 LIMIT 1`, find: `
	SELECT CAST(e.sequence AS TEXT) || ' ' || e.event || ' of ' || e.subject,
		coalesce('the words of a ' || t.state || ' ' || t.kind || ' of ' || t.units, 'a transaction that it is about'),
		CASE WHEN t.id IS NULL THEN 'none' ELSE 'other words' END
	FROM (
		SELECT company_id, sequence, kind AS event, data, substr(data, 7, strpos(substr(data, 7, 40) || ',', ',') - 1) AS subject
		FROM event WHERE company_id = $1 AND substr(kind, 1, 7) = 'crypto.' AND kind <> 'crypto.key_changed'
	) AS e
	LEFT JOIN (SELECT company_id, CAST(id AS TEXT) AS id, kind, state, units, asset FROM crypto_transaction WHERE company_id = $1) AS t
		ON t.company_id = e.company_id AND t.id = e.subject
	WHERE t.id IS NULL OR strpos(e.data, '"amountUnits":"' || t.units || '"') = 0 OR strpos(e.data, '"asset":"' || t.asset || '"') = 0
		OR strpos(e.data, '"type":"' || t.kind || '"') = 0
		OR e.event <> 'crypto.' || t.kind || '_' || t.state AND e.event <> 'crypto.deposit_pending'
	ORDER BY e.sequence` + upTo},
}

// toldEvent is an event and the ledger entry that was made in the same commit.
type toldEvent struct {
	sequence      int64
	kind, account string
	entry         int64
	expected      string // the right data, if the event's data is wrong; else empty
}

// orderedEvents reads events in the order of their sequence. It returns a finding for each event
// with wrong data. It also returns a finding if the entries of two successive events about an
// account are not in the same order as the events.
func orderedEvents(ctx context.Context, q db.Querier, c check, company string) (out []Finding, err error) {
	last := map[string]int64{}
	_, err = db.All(ctx, q, func(s db.Scanner) (struct{}, error) {
		e, err := c.ordered(s)
		found := "other words, or none"
		if e.expected == "" && e.account != "" {
			if before := last[e.account]; e.entry <= before {
				e.expected = fmt.Sprintf("an event after that of entry %d of %s", before, e.account)
				found = fmt.Sprintf("that of entry %d", e.entry)
			}
			last[e.account] = e.entry
		}
		if e.expected != "" && len(out) < most {
			id := fmt.Sprintf("%d %s", e.sequence, e.kind)
			out = append(out, Finding{Company: company, Check: c.name, ID: id, Expected: e.expected, Found: found})
		}
		return struct{}{}, err
	}, c.find, company)
	return out, err
}
