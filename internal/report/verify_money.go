package report

// These checks compare the ledger with the owners of its transfers.

// operationMoney: an operation has one hold of amount and fee. A success has one
// settlement and one fee besides, and a failure one refund. A reversal has all transfers
// of a success and both ways back. A success may also have one charge. The accounts
// distinguish the transfers, since old transfers have other steps.
//
// Each kind of transfer has a digit of the sum. So the sum gives the number of transfers
// of each kind.
const operationMoney = `
	SELECT m.id, m.state || ' of ' || CAST(m.amount_kobo AS TEXT) || ' kobo and a fee of ' || CAST(m.fee_kobo AS TEXT) || ' kobo',
		CAST(m.transfers AS TEXT) || ' transfers: ' || CAST(m.digits % 10 AS TEXT) || ' hold, ' || CAST(m.digits / 10 % 10 AS TEXT) || ' settle, '
		|| CAST(m.digits / 100 % 10 AS TEXT) || ' fee, ' || CAST(m.digits / 1000 % 10 AS TEXT) || ' refund, '
		|| CAST(m.digits / 10000 % 10 AS TEXT) || ' reverse, ' || CAST(m.digits / 100000 % 10 AS TEXT) || ' reverse fee, '
		|| CAST(m.digits / 1000000 % 10 AS TEXT) || ' charge of these amounts and accounts'
	FROM (
		SELECT o.id, o.state, o.amount_kobo, o.fee_kobo, count(t.reference) AS transfers,
			CASE o.state WHEN 'PENDING' THEN 1 WHEN 'SUCCESS' THEN 11 WHEN 'FAILED' THEN 1001 ELSE 10011 END
				+ CASE WHEN o.fee_kobo = 0 THEN 0 WHEN o.state = 'SUCCESS' THEN 100 WHEN o.state = 'REVERSED' THEN 100100 ELSE 0 END AS due,
			CASE o.state WHEN 'PENDING' THEN 1 WHEN 'REVERSED' THEN 3 ELSE 2 END
				+ CASE WHEN o.fee_kobo = 0 THEN 0 WHEN o.state = 'SUCCESS' THEN 1 WHEN o.state = 'REVERSED' THEN 2 ELSE 0 END AS steps,
			CAST(sum(CASE
				WHEN t.reference IS NULL THEN 0
				WHEN t.kind = 'charge' AND t.debit_account = 'charge/' || o.provider AND t.credit_account = 'provider/' || o.provider THEN 1000000
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
		OR m.state IN ('SUCCESS', 'REVERSED') AND m.digits = m.due + 1000000 AND m.transfers = m.steps + 1)
	ORDER BY m.id` + upTo

// transferDecimal is a transfer's amount as the audit log and events write it.
const transferDecimal = `CAST(t.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + t.amount_kobo % 100 AS TEXT), 2)`

// transferOwner: a transfer belongs to an operation, a credit, an assigned credit,
// an approved adjustment, a booked day of charges, or an opening balance.
const transferOwner = transferOf + ` AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = t.company_id AND o.id = t.reference)` +
	ownedOtherwise + ` ORDER BY t.reference, t.step` + upTo

const (
	transferOf = `
	SELECT t.reference || ' ' || t.step, 'what the transfer belongs to',
		'nothing for a ' || t.kind || ' of ' || CAST(t.amount_kobo AS TEXT) || ' kobo from ' || t.debit_account || ' to ' || t.credit_account
	FROM ledger_transfer AS t WHERE t.company_id = $1`
	ownedOtherwise = `
		AND NOT EXISTS (SELECT 1 FROM settlement_credit AS c
			WHERE c.company_id = t.company_id AND c.id = t.reference AND c.amount_kobo = t.amount_kobo
				AND (t.step = '' AND t.debit_account = 'provider/' || c.provider AND (
					c.settlement_id = 0 AND t.kind = 'suspense' AND t.credit_account = 'suspense/inbound'
					OR c.settlement_id <> 0 AND t.kind IN ('credit', 'collection')
						AND t.credit_account = 'settlement/' || CAST(c.settlement_id AS TEXT))
				OR t.kind = 'assign' AND t.debit_account = 'suspense/inbound' AND t.credit_account = 'provider/' || c.provider
					AND EXISTS (SELECT 1 FROM operation_case AS a WHERE a.company_id = c.company_id
						AND a.subject = c.provider || '/' || c.session_id AND a.state = 'RESOLVED' AND a.outcome = 'assigned')))
		AND NOT EXISTS (SELECT 1 FROM settlement_adjustment AS j
			WHERE j.company_id = t.company_id AND j.id = t.reference AND t.step = '' AND t.kind = 'adjustment'
				AND j.state = 'APPROVED' AND j.amount_kobo = t.amount_kobo
				AND (j.direction = 'credit' AND t.debit_account = 'adjustment' AND t.credit_account = 'settlement/' || CAST(j.settlement_id AS TEXT)
				OR j.direction = 'debit' AND t.credit_account = 'adjustment' AND t.debit_account = 'settlement/' || CAST(j.settlement_id AS TEXT)))
		AND NOT EXISTS (SELECT 1 FROM operation_case AS b
			WHERE b.company_id = t.company_id AND b.id = t.step AND b.subject = t.reference AND t.kind = 'charge'
				AND b.state = 'RESOLVED' AND b.outcome = 'booked' AND abs(b.amount_kobo) = t.amount_kobo)
		AND NOT (t.kind = 'credit' AND t.step = '' AND substr(t.debit_account, 1, 9) = 'provider/'
			AND EXISTS (SELECT 1 FROM operator_audit AS l WHERE l.company_id = t.company_id AND l.action = 'settlement.fund'
				AND l.subject = t.credit_account AND l.details = '{"amount":"' || ` + transferDecimal + ` || '"}'))`
)

// adjustmentMoney: an approved adjustment has one transfer of its amount.
const adjustmentMoney = `
	SELECT j.id, 'a transfer of ' || CAST(j.amount_kobo AS TEXT) || ' kobo', 'none'
	FROM settlement_adjustment AS j
	WHERE j.company_id = $1 AND j.state = 'APPROVED' AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
		WHERE t.company_id = j.company_id AND t.reference = j.id AND t.step = '' AND t.amount_kobo = j.amount_kobo)
	ORDER BY j.id` + upTo

// caseMoney: a booked day of charges is in the ledger, and an assigned credit has left
// suspense.
const caseMoney = `
	SELECT b.id, 'a transfer, for the case is ' || b.outcome, 'none'
	FROM operation_case AS b
	WHERE b.company_id = $1 AND b.state = 'RESOLVED' AND (
		b.outcome = 'booked' AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
			WHERE t.company_id = b.company_id AND t.reference = b.subject AND t.step = b.id)
		OR b.outcome = 'assigned' AND NOT EXISTS (SELECT 1 FROM settlement_credit AS c
			WHERE c.company_id = b.company_id AND c.provider = substr(b.subject, 1, strpos(b.subject || '/', '/') - 1)
				AND c.session_id = substr(b.subject, strpos(b.subject, '/') + 1) AND (c.settlement_id <> 0 OR EXISTS (SELECT 1 FROM ledger_transfer AS t
					WHERE t.company_id = c.company_id AND t.reference = c.id AND t.kind = 'assign'))))
	ORDER BY b.id` + upTo

// openingMoney: an opening balance has no row of its own. An account has as many transfers
// of an amount as the audit log has lines about them.
const (
	openingMoney = `
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
	WHERE said.n <> coalesce(t.n, 0) ORDER BY said.subject, said.details` + upTo
	anyOpening = `SELECT id, '', '' FROM operator_audit WHERE company_id = $1 AND action = 'settlement.fund' LIMIT 1`
)

// creditSession: a bank's session belongs to one company, by the first decision. A company
// may also have a session that was assigned to it from the house.
const creditSession = `
	SELECT c.id, 'session ' || c.session_id || ' of ' || c.provider || ' decided for this company',
		coalesce('decided for ' || s.company_id, 'not decided')
	FROM settlement_credit AS c
	LEFT JOIN settlement_session AS s ON s.provider = c.provider AND s.session_id = c.session_id
	WHERE c.company_id = $1 AND coalesce(s.company_id, '') <> c.company_id AND NOT (
		coalesce(s.company_id, '') = 'house' AND EXISTS (SELECT 1 FROM operation_case AS a
			WHERE a.company_id = 'house' AND a.subject = c.provider || '/' || c.session_id AND a.state = 'RESOLVED'
				AND a.outcome = 'assigned' AND a.target_company = c.company_id))
	ORDER BY c.id` + upTo

// accountFloor: settlement, clearing and suspense accounts never go below zero. Accounts of
// the fintech's own money may.
const accountFloor = `
	SELECT a.id, CAST(a.due AS TEXT), CAST(a.floor_kobo AS TEXT) FROM (
		SELECT id, floor_kobo, CASE
			WHEN substr(id, 1, 11) = 'settlement/' OR substr(id, 1, 9) = 'clearing/' OR id = 'suspense/inbound' THEN 0
			WHEN substr(id, 1, 9) = 'provider/' OR substr(id, 1, 7) = 'charge/' OR id IN ('fee', 'adjustment') THEN -9223372036854775807 - 1
			ELSE floor_kobo END AS due
		FROM ledger_account WHERE company_id = $1
	) AS a WHERE a.floor_kobo <> a.due ORDER BY a.id` + upTo

// settlementAccount: each settlement account has a ledger account, and each such ledger
// account has its settlement account.
const settlementAccount = `
	SELECT 'settlement/' || CAST(s.id AS TEXT), 'an account in the ledger', 'none' FROM settlement_account AS s
	WHERE s.company_id = $1 AND NOT EXISTS (SELECT 1 FROM ledger_account AS a
		WHERE a.company_id = s.company_id AND a.id = 'settlement/' || CAST(s.id AS TEXT))
	UNION ALL
	SELECT a.id, 'a settlement account', 'none' FROM ledger_account AS a
	WHERE a.company_id = $1 AND substr(a.id, 1, 11) = 'settlement/' AND NOT EXISTS (SELECT 1 FROM settlement_account AS s
		WHERE s.company_id = a.company_id AND 'settlement/' || CAST(s.id AS TEXT) = a.id)` + upTo

// operationDetail: each operation has its payout, purchase or funding with the same id. If
// their numbers are equal, each detail has its operation. anyWithoutDetail merges both
// tables in one order; operationDetail searches for each row.
const (
	anyWithoutDetail = `
	SELECT id, kind, '' FROM operation WHERE company_id = $1 AND kind IN ('payout', 'vtu', 'card')
	EXCEPT
	SELECT id, kind, '' FROM (
		SELECT id, 'payout' AS kind FROM payout WHERE company_id = $1
		UNION ALL SELECT id, 'vtu' FROM vtu_purchase WHERE company_id = $1
		UNION ALL SELECT id, 'card' FROM card_funding WHERE company_id = $1 ORDER BY 1, 2) AS detail
	ORDER BY 1, 2 LIMIT 1`
	operationDetail = `
	SELECT o.id, 'what a ' || o.kind || ' was for', 'nothing' FROM operation AS o
	WHERE o.company_id = $1 AND CASE o.kind
		WHEN 'payout' THEN NOT EXISTS (SELECT 1 FROM payout AS p WHERE p.company_id = o.company_id AND p.id = o.id)
		WHEN 'vtu' THEN NOT EXISTS (SELECT 1 FROM vtu_purchase AS p WHERE p.company_id = o.company_id AND p.id = o.id)
		WHEN 'card' THEN NOT EXISTS (SELECT 1 FROM card_funding AS p WHERE p.company_id = o.company_id AND p.id = o.id)
		ELSE 1 = 0 END
	ORDER BY o.id` + upTo
	detailCounts = `
	SELECT 'details', CAST(o.n AS TEXT), CAST(p.n + v.n AS TEXT) FROM
		(SELECT count(*) AS n FROM operation WHERE company_id = $1 AND kind IN ('payout', 'vtu')) AS o,
		(SELECT count(*) AS n FROM payout WHERE company_id = $1) AS p, (SELECT count(*) AS n FROM vtu_purchase WHERE company_id = $1) AS v
	WHERE o.n <> p.n + v.n`
	strayDetail = `
	SELECT p.id, 'the operation of a payout', 'none' FROM payout AS p
	WHERE p.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = p.company_id AND o.id = p.id AND o.kind = 'payout')
	UNION ALL
	SELECT p.id, 'the operation of a purchase', 'none' FROM vtu_purchase AS p
	WHERE p.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = p.company_id AND o.id = p.id AND o.kind = 'vtu')` + upTo
)

// cardFunding: a funding has its operation's amount. It is open while the operation is
// pending.
const cardFunding = `
	SELECT f.id, coalesce(o.state || ' of ' || CAST(o.amount_kobo AS TEXT) || ' kobo', 'its operation'), f.state || ' of ' || CAST(f.amount_kobo AS TEXT) || ' kobo'
	FROM card_funding AS f
	LEFT JOIN operation AS o ON o.company_id = f.company_id AND o.id = f.id AND o.kind = 'card'
	WHERE f.company_id = $1 AND (o.id IS NULL OR o.amount_kobo <> f.amount_kobo
		OR f.state <> CASE o.state WHEN 'PENDING' THEN 'OPEN' ELSE 'CLOSED' END)
	ORDER BY f.id` + upTo

// billVerification: a used verification has one purchase, which did not fail. A purchase
// that did not fail has used the verification that it names.
const billVerification = `
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
		AND (v.id IS NULL OR v.state <> 'USED' OR p.meter_number <> '' AND p.meter_number <> v.entity_number)` + upTo

// paidCollection: a paid collection has one credit to its account, of the right amount. An
// unpaid collection has none.
const paidCollection = `
	SELECT v.id, 'paid by the credit ' || v.credit_id || ' of ' || CAST(v.amount_kobo AS TEXT) || ' kobo, ' || v.amount_control,
		coalesce(v.state || ' with ' || CAST(c.amount_kobo AS TEXT) || ' kobo', v.state || ' with none')
	FROM collection AS v
	LEFT JOIN settlement_credit AS c ON c.company_id = v.company_id AND c.id = v.credit_id AND c.account_number = v.account_number
	WHERE v.company_id = $1 AND (v.state = 'SUCCESS' AND (c.id IS NULL
			OR v.amount_control = 'Fixed' AND c.amount_kobo <> v.amount_kobo
			OR v.amount_control = 'UnderPayment' AND c.amount_kobo > v.amount_kobo
			OR v.amount_control = 'OverPayment' AND c.amount_kobo < v.amount_kobo)
		OR v.state <> 'SUCCESS' AND v.credit_id <> '')
	ORDER BY v.id` + upTo
