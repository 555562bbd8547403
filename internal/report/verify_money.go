package report

// transferDecimal is SQL for a transfer's amount, in the form of the audit log and of events.
const transferDecimal = `CAST(t.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + t.amount_kobo % 100 AS TEXT), 2)`

// moneyChecks compare the ledger with the rows that caused its transfers and accounts.
var moneyChecks = []check{
	// Each approved adjustment has one transfer with the amount of the adjustment.
	{name: "adjustment money", find: `
	SELECT j.id, 'a transfer of ' || CAST(j.amount_kobo AS TEXT) || ' kobo', 'none'
	FROM settlement_adjustment AS j
	WHERE j.company_id = $1 AND j.state = 'APPROVED' AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
		WHERE t.company_id = j.company_id AND t.reference = j.id AND t.step = '' AND t.amount_kobo = j.amount_kobo)
	ORDER BY j.id` + upTo},
	// Each transfer between two settlement accounts has one transfer with its amount in the ledger.
	{name: "own transfer money", find: `
	SELECT m.id, 'a transfer of ' || CAST(m.amount_kobo AS TEXT) || ' kobo', 'none'
	FROM settlement_transfer AS m
	WHERE m.company_id = $1 AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
		WHERE t.company_id = m.company_id AND t.reference = m.id AND t.step = '' AND t.kind = 'transfer' AND t.amount_kobo = m.amount_kobo)
	ORDER BY m.id` + upTo},
	// If operators have booked the charges of a day, these charges are in the ledger. If operators
	// have assigned a credit, the credit has left suspense. If they have assigned what was left on a
	// terminated card, the company has the credit of this card with the amount of the case.
	{name: "case money", find: `
	SELECT b.id, 'a transfer, for the case is ' || b.outcome, 'none'
	FROM operation_case AS b
	WHERE b.company_id = $1 AND b.state = 'RESOLVED' AND (
		b.outcome = 'booked' AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
			WHERE t.company_id = b.company_id AND t.reference = b.subject AND t.step = b.id)
		OR b.outcome = 'assigned' AND b.reason = 'CARD_BALANCE' AND NOT EXISTS (SELECT 1 FROM card AS d
			JOIN settlement_credit AS c ON c.company_id = d.company_id AND c.provider = d.provider AND c.session_id = 'card/' || d.provider_card_id
			WHERE d.company_id = b.company_id AND d.id = b.subject AND c.settlement_id = b.target_settlement AND c.amount_kobo = b.amount_kobo)
		OR b.outcome = 'assigned' AND b.reason <> 'CARD_BALANCE' AND NOT EXISTS (SELECT 1 FROM settlement_credit AS c
			WHERE c.company_id = b.company_id AND c.provider = substr(b.subject, 1, strpos(b.subject || '/', '/') - 1)
				AND c.session_id = substr(b.subject, strpos(b.subject, '/') + 1) AND (c.settlement_id <> 0 OR EXISTS (SELECT 1 FROM ledger_transfer AS t
					WHERE t.company_id = c.company_id AND t.reference = c.id AND t.kind = 'assign'))))
	ORDER BY b.id` + upTo},
	// An opening balance has no row of its own besides the ledger. So the check compares the ledger
	// with the audit log. For each account and amount, both must have the same number of opening
	// balances.
	{name: "opening money", when: `SELECT id, '', '' FROM operator_audit WHERE company_id = $1 AND action = 'settlement.fund' LIMIT 1`, find: `
	WITH moved AS (
		SELECT t.credit_account, t.amount_kobo, count(*) AS n FROM ledger_transfer AS t
		WHERE t.company_id = $1 AND t.kind = 'credit' AND t.step = '' AND NOT EXISTS (
			SELECT 1 FROM settlement_credit AS c WHERE c.company_id = t.company_id AND c.id = t.reference)
		GROUP BY t.credit_account, t.amount_kobo
	), said AS (
		SELECT l.subject, l.details, count(*) AS n FROM operator_audit AS l
		WHERE l.company_id = $1 AND l.action = 'settlement.fund' GROUP BY l.subject, l.details
	)
	SELECT said.subject || ' ' || said.details, CAST(said.n AS TEXT) || ' transfers, as the audit log says', CAST(coalesce(t.n, 0) AS TEXT)
	FROM said LEFT JOIN moved AS t ON t.credit_account = said.subject AND said.details = '{"amount":"' || ` + transferDecimal + ` || '"}'
	WHERE said.n <> coalesce(t.n, 0) ORDER BY said.subject, said.details` + upTo},
	// Settlement, clearing and suspense accounts must have the floor zero. Accounts of the
	// fintech's own money must have no floor.
	{name: "account floor", find: `
	SELECT a.id, CAST(a.due AS TEXT), CAST(a.floor_kobo AS TEXT) FROM (
		SELECT id, floor_kobo, CASE
			WHEN substr(id, 1, 11) = 'settlement/' OR substr(id, 1, 9) = 'clearing/' OR id = 'suspense/inbound' THEN 0
			WHEN substr(id, 1, 9) = 'provider/' OR substr(id, 1, 7) = 'charge/' OR id IN ('fee', 'adjustment') THEN -9223372036854775807 - 1
			ELSE floor_kobo END AS due
		FROM ledger_account WHERE company_id = $1
	) AS a WHERE a.floor_kobo <> a.due ORDER BY a.id` + upTo},
	// Each settlement account has a ledger account, and each ledger account named settlement/N has
	// a settlement account.
	{name: "settlement account", find: `
	SELECT 'settlement/' || CAST(s.id AS TEXT), 'an account in the ledger', 'none' FROM settlement_account AS s
	WHERE s.company_id = $1 AND NOT EXISTS (SELECT 1 FROM ledger_account AS a
		WHERE a.company_id = s.company_id AND a.id = 'settlement/' || CAST(s.id AS TEXT))
	UNION ALL
	SELECT a.id, 'a settlement account', 'none' FROM ledger_account AS a
	WHERE a.company_id = $1 AND substr(a.id, 1, 11) = 'settlement/' AND NOT EXISTS (SELECT 1 FROM settlement_account AS s
		WHERE s.company_id = a.company_id AND 'settlement/' || CAST(s.id AS TEXT) = a.id)` + upTo},
	// Each operation has a payout, a purchase or a card funding with the same id. The SQL query `when`
	// is fast, since it reads both tables in the order of their ids. The SQL query `find` searches for
	// each row.
	{name: "operation detail", when: `
	SELECT id, kind, '' FROM operation WHERE company_id = $1 AND kind IN ('payout', 'vtu', 'card')
	EXCEPT
	SELECT id, kind, '' FROM (
		SELECT id, 'payout' AS kind FROM payout WHERE company_id = $1
		UNION ALL SELECT id, 'vtu' FROM vtu_purchase WHERE company_id = $1
		UNION ALL SELECT id, 'card' FROM card_funding WHERE company_id = $1 ORDER BY 1, 2) AS detail
	ORDER BY 1, 2 LIMIT 1`, find: `
	SELECT o.id, 'what a ' || o.kind || ' was for', 'nothing' FROM operation AS o
	WHERE o.company_id = $1 AND CASE o.kind
		WHEN 'payout' THEN NOT EXISTS (SELECT 1 FROM payout AS p WHERE p.company_id = o.company_id AND p.id = o.id)
		WHEN 'vtu' THEN NOT EXISTS (SELECT 1 FROM vtu_purchase AS p WHERE p.company_id = o.company_id AND p.id = o.id)
		WHEN 'card' THEN NOT EXISTS (SELECT 1 FROM card_funding AS p WHERE p.company_id = o.company_id AND p.id = o.id)
		ELSE 1 = 0 END
	ORDER BY o.id` + upTo},
	// Each payout and purchase has an operation. Since each operation has a detail row (the check
	// above), equal counts prove this.
	{name: "operation detail", when: `
	SELECT 'details', CAST(o.n AS TEXT), CAST(p.n + v.n AS TEXT) FROM
		(SELECT count(*) AS n FROM operation WHERE company_id = $1 AND kind IN ('payout', 'vtu')) AS o,
		(SELECT count(*) AS n FROM payout WHERE company_id = $1) AS p, (SELECT count(*) AS n FROM vtu_purchase WHERE company_id = $1) AS v
	WHERE o.n <> p.n + v.n`, find: `
	SELECT p.id, 'the operation of a payout', 'none' FROM payout AS p
	WHERE p.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = p.company_id AND o.id = p.id AND o.kind = 'payout')
	UNION ALL
	SELECT p.id, 'the operation of a purchase', 'none' FROM vtu_purchase AS p
	WHERE p.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = p.company_id AND o.id = p.id AND o.kind = 'vtu')` + upTo},
	// A card funding has the amount of its operation. The row of the funding is marked as open while
	// the operation is pending, and as closed afterwards.
	{name: "card funding", find: `
	SELECT f.id, coalesce(o.state || ' of ' || CAST(o.amount_kobo AS TEXT) || ' kobo', 'its operation'), f.state || ' of ' || CAST(f.amount_kobo AS TEXT) || ' kobo'
	FROM card_funding AS f
	LEFT JOIN operation AS o ON o.company_id = f.company_id AND o.id = f.id AND o.kind = 'card'
	WHERE f.company_id = $1 AND (o.id IS NULL OR o.amount_kobo <> f.amount_kobo
		OR f.state <> CASE o.state WHEN 'PENDING' THEN 'OPEN' ELSE 'CLOSED' END)
	ORDER BY f.id` + upTo},
	// Each verification of a bill that is marked as used belongs to a purchase that did not fail. Each
	// purchase that names a verification, and did not fail, has used that verification.
	{name: "bill verification", find: `
	SELECT v.id, 'a purchase that used the verification', coalesce(v.purchase_id || ' ' || o.state, 'none')
	FROM vtu_verification AS v
	LEFT JOIN vtu_purchase AS p ON p.company_id = v.company_id AND p.id = v.purchase_id AND p.verification_id = v.id
	LEFT JOIN operation AS o ON o.company_id = p.company_id AND o.id = p.id
	WHERE v.company_id = $1 AND v.state = 'USED' AND (o.id IS NULL OR o.state = 'FAILED')
	UNION ALL
	SELECT p.id, 'a used verification for ' || p.meter_number, coalesce(v.state || ' for ' || v.entity_number, 'none')
	FROM vtu_purchase AS p
	JOIN operation AS o ON o.company_id = p.company_id AND o.id = p.id AND o.state <> 'FAILED'
	LEFT JOIN vtu_verification AS v ON v.company_id = p.company_id AND v.id = p.verification_id AND v.purchase_id = p.id
	WHERE p.company_id = $1 AND p.verification_id <> ''
		AND (v.id IS NULL OR v.state <> 'USED' OR p.meter_number <> '' AND p.meter_number <> v.entity_number)` + upTo},
	// A paid collection has one credit to its account, with an amount that the collection accepts.
	// An unpaid collection has no credit.
	{name: "paid collection", find: `
	SELECT v.id, 'paid by the credit ' || v.credit_id || ' of ' || CAST(v.amount_kobo AS TEXT) || ' kobo, ' || v.amount_control,
		coalesce(v.state || ' with ' || CAST(c.amount_kobo AS TEXT) || ' kobo', v.state || ' with none')
	FROM collection AS v
	LEFT JOIN settlement_credit AS c ON c.company_id = v.company_id AND c.id = v.credit_id AND c.account_number = v.account_number
	WHERE v.company_id = $1 AND (v.state = 'SUCCESS' AND (c.id IS NULL
			OR v.amount_control = 'Fixed' AND c.amount_kobo <> v.amount_kobo
			OR v.amount_control = 'UnderPayment' AND c.amount_kobo > v.amount_kobo
			OR v.amount_control = 'OverPayment' AND c.amount_kobo < v.amount_kobo)
		OR v.state <> 'SUCCESS' AND v.credit_id <> '')
	ORDER BY v.id` + upTo},
	// A stored counter equals the count or the sum of the rows that it counts. The last number of a
	// sequence without gaps equals the number of rows.
	{name: "counter", find: `
	WITH due (name, n) AS (
		SELECT 'customer', count(*) FROM customer WHERE company_id = $1
		UNION ALL SELECT 'customer.transaction', count(*) FROM customer_transaction WHERE company_id = $1
		UNION ALL SELECT 'webhooks', count(*) FROM webhook_endpoint WHERE company_id = $1 AND state <> 'DELETED'
		UNION ALL SELECT 'card/' || card_id || '/' || CAST(amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + amount_kobo % 100 AS TEXT), 2), open
			FROM (SELECT card_id, amount_kobo, count(*) AS open FROM card_funding
				WHERE company_id = $1 AND state = 'OPEN' GROUP BY card_id, amount_kobo) AS f
	)
	SELECT d.name, CAST(d.n AS TEXT), CAST(coalesce(c.value, 0) AS TEXT) FROM due AS d
	LEFT JOIN ledger_counter AS c ON c.company_id = $1 AND c.name = d.name
	WHERE d.n <> coalesce(c.value, 0)
	UNION ALL
	SELECT c.name, '0', CAST(c.value AS TEXT) FROM ledger_counter AS c
	WHERE c.company_id = $1 AND substr(c.name, 1, 5) = 'card/' AND c.value <> 0 AND NOT EXISTS (SELECT 1 FROM due AS d WHERE d.name = c.name)
	UNION ALL
	SELECT c.name, 'a charge of the operation', 'none' FROM ledger_counter AS c
	WHERE c.company_id = $1 AND substr(c.name, 1, 7) = 'charge/' AND c.value <> 0 AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
		WHERE t.company_id = c.company_id AND t.reference = substr(c.name, 8) AND t.kind = 'charge')
	UNION ALL
	SELECT c.name, 'the highest number of ' || CAST(m.highest AS TEXT), CAST(c.value AS TEXT) FROM ledger_counter AS c, (
		SELECT 'customer' AS name, coalesce(max(number), 0) AS highest FROM customer WHERE company_id = $1
		UNION ALL SELECT 'customer.transaction', coalesce(max(number), 0) FROM customer_transaction WHERE company_id = $1) AS m
	WHERE c.company_id = $1 AND c.name = m.name AND c.value <> m.highest` + upTo},
}
