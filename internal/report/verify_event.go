package report

// What follows compares the events with what they tell of. An event's data is the
// text that the program wrote; a fact in it is looked for as that text. Texts that
// JSON escapes are not compared.

// meanings says which operation an event is about: its kind, the state that the
// event tells, the step of the money in the same commit, and where in the data the
// operation's id begins.
const meanings = `WITH meaning (event, operation, state, step, place) AS (VALUES
		('payout.pending', 'payout', 'PENDING', '', 15), ('payout.success', 'payout', 'SUCCESS', 'settle', 15),
		('payout.failed', 'payout', 'FAILED', 'refund', 15), ('payout.reversed', 'payout', 'REVERSED', 'reverse', 15),
		('vtu.pending', 'vtu', 'PENDING', '', 19), ('vtu.success', 'vtu', 'SUCCESS', 'settle', 19), ('vtu.failed', 'vtu', 'FAILED', 'refund', 19),
		('card.funding_pending', 'card', 'PENDING', '', 15), ('card.funded', 'card', 'SUCCESS', 'settle', 15),
		('card.funding_failed', 'card', 'FAILED', 'refund', 15))`

// Amounts as events write them: naira as a number without noughts at its end, and
// with two decimals.
const (
	operationDecimal = `CAST(o.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + o.amount_kobo % 100 AS TEXT), 2)`
	operationNaira   = `rtrim(rtrim(` + operationDecimal + `, '0'), '.')`
	operationFee     = `rtrim(rtrim(CAST(o.fee_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + o.fee_kobo % 100 AS TEXT), 2), '0'), '.')`
	creditNaira      = `rtrim(rtrim(CAST(c.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + c.amount_kobo % 100 AS TEXT), 2), '0'), '.')`
)

// operationEvent: an event of an operation says what its operation, its payee and
// its purchase say, and stands in the order in which the clearing account saw the
// money.
const operationEvent = meanings + `
	SELECT CAST(x.sequence AS TEXT) || ' ' || x.event || ' of ' || x.subject,
		CASE WHEN x.fits = 0 THEN coalesce('the words of a ' || x.kind || ' ' || x.state, 'an operation that it is about') ELSE 'an event after that of entry ' || CAST(x.before AS TEXT) || ' of ' || x.account END,
		CASE WHEN x.fits = 0 AND x.kind IS NULL THEN 'none' WHEN x.fits = 0 THEN 'other words' ELSE 'that of entry ' || CAST(x.entry AS TEXT) END
	FROM (
		SELECT y.sequence, y.event, y.subject, y.kind, y.state, y.fits, y.account, y.entry,
			lag(y.entry) OVER (PARTITION BY y.account ORDER BY y.sequence) AS before
		FROM (
			SELECT e.sequence, e.event, e.subject, o.kind, o.state,
				CASE WHEN e.step IN ('', 'reverse') THEN t.credit_account ELSE t.debit_account END AS account,
				CASE WHEN e.step IN ('', 'reverse') THEN t.credit_entry ELSE t.debit_entry END AS entry,
				CASE WHEN o.kind = e.operation
					AND (e.told = 'PENDING' OR e.told = o.state OR e.told = 'SUCCESS' AND o.state = 'REVERSED')
					AND strpos(e.data, '"status":"' || e.told || '"') > 0
					AND strpos(e.data, '"settlementId":' || CAST(o.settlement_id AS TEXT) || ',') > 0
					AND CASE o.kind
						WHEN 'vtu' THEN strpos(e.data, '"amount":"' || ` + operationDecimal + ` || '"') > 0
							AND (strpos(e.data, '\') > 0 OR strpos(e.data, '"idempotencyKey":"' || o.idempotency_key || '"') > 0)
							AND (e.step <> '' OR (p.phone_number = '' OR strpos(e.data, '"phoneNumber":"' || p.phone_number || '"') > 0)
								AND (p.card_number = '' OR strpos(e.data, '"cardNumber":"' || p.card_number || '"') > 0)
								AND (p.meter_number = '' OR strpos(e.data, '"meterNumber":"' || p.meter_number || '"') > 0))
						WHEN 'payout' THEN strpos(e.data, '"amount":' || ` + operationNaira + ` || ',"fee":' || ` + operationFee + ` || ',') > 0
							AND o.idempotency_key = o.id
							AND (e.step <> '' OR v.settlement_id = o.settlement_id AND v.provider = o.provider
								AND strpos(e.data, '"account_number":"' || v.account_number || '","bank_code":"' || v.bank_code || '"') > 0)
						ELSE strpos(e.data, '"amount":' || ` + operationNaira + ` || ',') > 0 END
				THEN 1 ELSE 0 END AS fits
			FROM (
				SELECT e.company_id, e.sequence, e.data, m.event, m.operation, m.state AS told, m.step,
					substr(e.data, m.place, strpos(substr(e.data, m.place, 80) || '"', '"') - 1) AS subject
				FROM event AS e CROSS JOIN meaning AS m
				WHERE e.company_id = $1 AND m.event = e.kind
			) AS e
			LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = e.subject
			LEFT JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.subject AND t.step = e.step
			LEFT JOIN payout_verification AS v ON e.event = 'payout.pending' AND v.company_id = e.company_id AND v.id = e.subject
			LEFT JOIN vtu_purchase AS p ON e.event = 'vtu.pending' AND p.company_id = e.company_id AND p.id = e.subject
		) AS y
	) AS x
	WHERE x.fits = 0 OR x.entry <= x.before ORDER BY x.sequence` + upTo

// creditEvent: an event of a credit says what the credit says, and stands in the
// order in which the settlement account saw the money.
const creditEvent = `
	SELECT CAST(x.sequence AS TEXT) || ' ' || x.event || ' of ' || x.subject,
		CASE WHEN x.fits = 0 THEN coalesce('the words of a credit of ' || CAST(x.amount_kobo AS TEXT) || ' kobo', 'a credit that it is about') ELSE 'an event after that of entry ' || CAST(x.before AS TEXT) || ' of ' || x.account END,
		CASE WHEN x.fits = 0 AND x.amount_kobo IS NULL THEN 'none' WHEN x.fits = 0 THEN 'other words' ELSE 'that of entry ' || CAST(x.entry AS TEXT) END
	FROM (
		SELECT y.sequence, y.event, y.subject, y.amount_kobo, y.fits, y.account, y.entry,
			lag(y.entry) OVER (PARTITION BY y.account ORDER BY y.sequence) AS before
		FROM (
			SELECT e.sequence, e.event, e.subject, c.amount_kobo, t.credit_account AS account, t.credit_entry AS entry,
				CASE WHEN c.id IS NOT NULL AND strpos(e.data, '"amount":' || ` + creditNaira + ` || ',') > 0
					AND (strpos(e.data, '\') > 0 OR strpos(e.data, '"sessionId":"' || c.session_id || '"') > 0)
					AND CASE e.event
						WHEN 'settlement.credit' THEN strpos(e.data, '"settlementId":' || CAST(c.settlement_id AS TEXT) || ',') > 0
							AND strpos(e.data, '"accountNumber":"' || c.account_number || '"') > 0
						ELSE d.id IS NOT NULL AND strpos(e.data, '"customer":{"id":"' || d.customer_id || '"') > 0 END
				THEN 1 ELSE 0 END AS fits
			FROM (
				SELECT company_id, sequence, kind AS event, data, substr(data, 8, strpos(substr(data, 8, 80) || '"', '"') - 1) AS subject
				FROM event WHERE company_id = $1 AND kind IN ('settlement.credit', 'transaction.credit')
			) AS e
			LEFT JOIN settlement_credit AS c ON c.company_id = e.company_id AND c.id = e.subject
			LEFT JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.subject AND t.step = ''
			LEFT JOIN customer_transaction AS d ON d.company_id = e.company_id AND d.id = e.subject AND d.amount_kobo = c.amount_kobo
				AND d.session_id = c.session_id AND d.settlement_id = c.settlement_id
		) AS y
	) AS x
	WHERE x.fits = 0 OR x.entry <= x.before ORDER BY x.sequence` + upTo

// collectionEvent: an event of a virtual account is about a collection that has
// come so far, and what it says was paid is a credit.
const collectionEvent = `
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
	ORDER BY e.sequence` + upTo

// cryptoEvent: an event of a crypto transaction says what the transaction says.
const cryptoEvent = `
	SELECT CAST(e.sequence AS TEXT) || ' ' || e.event || ' of ' || e.subject,
		coalesce('the words of a ' || t.state || ' ' || t.kind || ' of ' || t.units, 'a transaction that it is about'),
		CASE WHEN t.id IS NULL THEN 'none' ELSE 'other words' END
	FROM (
		SELECT company_id, sequence, kind AS event, data, substr(data, 7, strpos(substr(data, 7, 40) || ',', ',') - 1) AS subject
		FROM event WHERE company_id = $1 AND substr(kind, 1, 7) = 'crypto.'
	) AS e
	LEFT JOIN (SELECT company_id, CAST(id AS TEXT) AS id, kind, state, units, asset FROM crypto_transaction WHERE company_id = $1) AS t
		ON t.company_id = e.company_id AND t.id = e.subject
	WHERE t.id IS NULL OR strpos(e.data, '"amountUnits":"' || t.units || '"') = 0 OR strpos(e.data, '"asset":"' || t.asset || '"') = 0
		OR strpos(e.data, '"type":"' || t.kind || '"') = 0
		OR e.event <> 'crypto.' || t.kind || '_' || t.state AND e.event <> 'crypto.deposit_pending'
	ORDER BY e.sequence` + upTo

// eventCounts: as many events of a kind as things that they are told of.
const eventCounts = meanings + `, done AS (
		SELECT kind, state, count(*) AS n FROM operation WHERE company_id = $1 GROUP BY kind, state
	), due (event, n) AS (
		SELECT m.event, CAST(coalesce(sum(d.n), 0) AS BIGINT) FROM meaning AS m LEFT JOIN done AS d ON d.kind = m.operation
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
		SELECT kind, count(*) AS n FROM event WHERE company_id = $1 GROUP BY kind
	)
	SELECT due.event, CAST(due.n AS TEXT) || ' events', CAST(coalesce(said.n, 0) AS TEXT) FROM due LEFT JOIN said ON said.kind = due.event
	WHERE due.n <> coalesce(said.n, 0) ORDER BY due.event` + upTo

// missingEvent names the operations whose events are not there once each. The
// counts say first whether there can be one.
const missingEvent = meanings + `, told AS (
		SELECT m.event, substr(e.data, m.place, strpos(substr(e.data, m.place, 80) || '"', '"') - 1) AS subject, count(*) AS n
		FROM event AS e CROSS JOIN meaning AS m WHERE e.company_id = $1 AND m.event = e.kind GROUP BY 1, 2
	)
	SELECT o.id, 'one event ' || m.event, CAST(coalesce(told.n, 0) AS TEXT)
	FROM operation AS o CROSS JOIN meaning AS m LEFT JOIN told ON told.event = m.event AND told.subject = o.id
	WHERE o.company_id = $1 AND m.operation = o.kind
		AND (m.state = 'PENDING' OR m.state = o.state OR m.state = 'SUCCESS' AND o.state = 'REVERSED')
		AND coalesce(told.n, 0) <> 1 ORDER BY o.id` + upTo

// creditKinds are the events that tell of money that came in, one for each credit
// in a company's own book.
const creditKinds = `('settlement.credit', 'transaction.credit', 'virtual_account.success', 'virtual_account.late_payment')`

const (
	creditEventCounts = `
	SELECT 'credits', CAST(c.n AS TEXT), CAST(e.n AS TEXT) FROM
		(SELECT count(*) AS n FROM settlement_credit WHERE company_id = $1 AND settlement_id <> 0) AS c,
		(SELECT count(*) AS n FROM event WHERE company_id = $1 AND kind IN ` + creditKinds + `) AS e
	WHERE c.n <> e.n`
	missingCreditEvent = `
	WITH told AS (
		SELECT substr(data, strpos(data, '"sessionId":"') + 13, strpos(substr(data, strpos(data, '"sessionId":"') + 13) || '"', '"') - 1) AS session, count(*) AS n
		FROM event WHERE company_id = $1 AND kind IN ` + creditKinds + ` GROUP BY 1
	)
	SELECT c.id, 'one event of the session ' || c.session_id, CAST(coalesce(told.n, 0) AS TEXT)
	FROM settlement_credit AS c LEFT JOIN told ON told.session = c.session_id
	WHERE c.company_id = $1 AND c.settlement_id <> 0 AND coalesce(told.n, 0) <> 1 ORDER BY c.id` + upTo
)
