package report

// rowChecks compare jobs, cases, the audit log and stored responses with the rows that they are
// about.
var rowChecks = []check{
	// An open operation has a job that polls the provider for the outcome, or an open case.
	{name: "pending operation", find: `
	SELECT o.id, 'a job that asks for the outcome, or an open case', 'neither' FROM operation AS o
	WHERE o.company_id = $1 AND o.state = 'PENDING'
		AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.company_id = o.company_id AND j.kind = 'operation.resolve' AND j.subject = o.id)
		AND NOT EXISTS (SELECT 1 FROM operation_case AS c WHERE c.company_id = o.company_id AND c.subject = o.id AND c.state = 'OPEN')
	ORDER BY o.id` + upTo},
	// Each job that polls for an outcome belongs to an operation. The operation may already have its
	// outcome, because Kobo may also learn the outcome from a notification.
	{name: "job subject", find: `
	SELECT j.kind || ' ' || j.subject, 'an operation', 'none' FROM job AS j
	WHERE j.company_id = $1 AND j.kind = 'operation.resolve'
		AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.company_id = j.company_id AND o.id = j.subject)
	ORDER BY j.subject` + upTo},
	// A pending collection has the job that expires it.
	{name: "pending collection", find: `
	SELECT v.id, 'a job that ends the waiting', 'none' FROM collection AS v
	WHERE v.company_id = $1 AND v.state = 'PENDING'
		AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.company_id = v.company_id AND j.kind = 'collection.expire' AND j.subject = v.id)
	ORDER BY v.id` + upTo},
	// A new notification has a job that will process it.
	{name: "pending notification", find: `
	SELECT n.id, 'a job that works the notification', 'none' FROM inbox_notification AS n
	WHERE n.company_id = $1 AND n.state = 'NEW'
		AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.company_id = n.company_id AND j.kind = 'inbox.work' AND j.subject = n.id)
	ORDER BY n.id` + upTo},
	// A credit in suspense has a case, which is created in a later commit than the credit. The case
	// must exist after all notifications are processed and the credit poll has passed the time of the
	// credit.
	{name: "suspense case", find: `
	SELECT c.id, 'a case of ' || c.provider || '/' || c.session_id, 'none' FROM settlement_credit AS c
	WHERE c.company_id = $1 AND c.settlement_id = 0
		AND NOT EXISTS (SELECT 1 FROM operation_case AS a WHERE a.company_id = c.company_id AND a.subject = c.provider || '/' || c.session_id)
		AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.company_id = c.company_id AND j.kind = 'inbox.work')
		AND EXISTS (SELECT 1 FROM inbox_sweep AS s WHERE s.company_id = c.company_id AND s.provider = c.provider AND s.done_until > c.created_at)
	ORDER BY c.id` + upTo},
	// The audit log has a line for the proposal and a line for the decision of each case.
	{name: "case audit", find: `
	SELECT c.id, 'an audit line case.propose of ' || c.proposed_by, 'none' FROM operation_case AS c
	WHERE c.company_id = $1 AND c.proposed_by <> '' AND NOT EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = c.company_id AND l.subject = c.id AND l.action = 'case.propose' AND l.operator = c.proposed_by)
	UNION ALL
	SELECT c.id, 'an audit line case.resolve of ' || c.resolved_by, 'none' FROM operation_case AS c
	WHERE c.company_id = $1 AND c.state = 'RESOLVED' AND NOT EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = c.company_id AND l.subject = c.id AND l.action = 'case.resolve' AND l.operator = c.resolved_by)` + upTo},
	// Each line of the audit log about a case agrees with the case.
	{name: "case audit", find: `
	SELECT l.subject, 'a case for the audit line ' || l.action, coalesce(c.state, 'none') FROM operator_audit AS l
	LEFT JOIN operation_case AS c ON c.company_id = l.company_id AND c.id = l.subject
	WHERE l.company_id = $1 AND (l.action = 'case.propose' AND c.id IS NULL
		OR l.action = 'case.resolve' AND coalesce(c.state, '') <> 'RESOLVED')
	ORDER BY l.id` + upTo},
	// The audit log has a line for the request and a line for the decision of each adjustment.
	{name: "adjustment audit", find: `
	SELECT a.id, 'an audit line adjustment.create of ' || a.created_by, 'none' FROM settlement_adjustment AS a
	WHERE a.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = a.company_id AND l.subject = a.id AND l.action = 'adjustment.create' AND l.operator = a.created_by)
	UNION ALL
	SELECT a.id, 'an audit line of ' || a.decided_by || ', for the adjustment is ' || a.state, 'none' FROM settlement_adjustment AS a
	WHERE a.company_id = $1 AND a.state <> 'PENDING' AND NOT EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = a.company_id AND l.subject = a.id AND l.operator = a.decided_by
			AND l.action = CASE a.state WHEN 'APPROVED' THEN 'adjustment.approve' ELSE 'adjustment.reject' END)` + upTo},
	// Each line of the audit log about an adjustment agrees with the adjustment.
	{name: "adjustment audit", find: `
	SELECT l.subject, 'an adjustment for the audit line ' || l.action, coalesce(a.state || ' of ' || CAST(a.amount_kobo AS TEXT) || ' kobo', 'none')
	FROM operator_audit AS l
	LEFT JOIN settlement_adjustment AS a ON a.company_id = l.company_id AND a.id = l.subject
	WHERE l.company_id = $1 AND substr(l.action, 1, 11) = 'adjustment.' AND (a.id IS NULL
		OR strpos(l.details, '"amount":"' || CAST(a.amount_kobo / 100 AS TEXT) || '.' || substr(CAST(100 + a.amount_kobo % 100 AS TEXT), 2) || '"') = 0
		OR strpos(l.details, '"direction":"' || a.direction || '"') = 0
		OR l.action = 'adjustment.approve' AND a.state <> 'APPROVED' OR l.action = 'adjustment.reject' AND a.state <> 'REJECTED')
	ORDER BY l.id` + upTo},
	// For each setting that operators have changed for a company, the audit log has a line.
	{name: "audit line", find: `
	SELECT 'company.create', 'an audit line', 'none' FROM company AS c
	WHERE c.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operator_audit AS l WHERE l.company_id = c.company_id AND l.action = 'company.create')
	UNION ALL
	SELECT 'settlement.create settlement/' || CAST(s.id AS TEXT), 'an audit line', 'none' FROM settlement_account AS s
	WHERE s.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operator_audit AS l WHERE l.company_id = s.company_id
		AND l.action = 'settlement.create' AND l.subject = 'settlement/' || CAST(s.id AS TEXT))
	UNION ALL
	SELECT 'settlement.feed ' || b.account_number, 'an audit line', 'none' FROM settlement_bank_account AS b
	WHERE b.company_id = $1 AND NOT EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = b.company_id AND l.subject = 'settlement/' || CAST(b.settlement_id AS TEXT) AND l.action IN ('settlement.feed', 'settlement.redirect')
			AND strpos(l.details, '"accountNumber":"' || b.account_number || '"') > 0 AND strpos(l.details, '"bankCode":"' || b.bank_code || '"') > 0
			AND NOT EXISTS (SELECT 1 FROM operator_audit AS u
				WHERE u.company_id = l.company_id AND u.subject <> l.subject AND u.action IN ('settlement.feed', 'settlement.redirect')
					AND strpos(u.details, '"accountNumber":"' || b.account_number || '"') > 0 AND strpos(u.details, '"bankCode":"' || b.bank_code || '"') > 0
					AND u.leaf > l.leaf AND u.created_at > l.created_at))
	UNION ALL
	SELECT 'payout.fees ' || f.version, 'an audit line', 'none' FROM (
		SELECT DISTINCT company_id, version FROM payout_fee WHERE company_id = $1) AS f
	WHERE NOT EXISTS (SELECT 1 FROM operator_audit AS l WHERE l.company_id = f.company_id AND l.action = 'payout.fees' AND l.subject = f.version)
	UNION ALL
	SELECT 'payout.limit', CAST(t.n AS TEXT) || ' audit lines', CAST(l.n AS TEXT) FROM
		(SELECT count(*) AS n FROM payout_limit WHERE company_id = $1) AS t,
		(SELECT count(*) AS n FROM operator_audit WHERE company_id = $1 AND action = 'payout.limit') AS l
	WHERE t.n <> l.n` + upTo},
	// The stored response of an Idempotency-Key agrees with a state that the operation of that request
	// may have had. The check leaves out encrypted responses. It also leaves out removed responses, and responses about a
	// card, because the first funding of a card has the same id as the card.
	{name: "kept answer", find: `
	SELECT o.kind || ' ' || o.id, 'an answer that can have been true of a ' || o.state, 'another with status ' || CAST(k.status AS TEXT)
	FROM idempotency_key AS k JOIN operation AS o ON o.company_id = k.company_id AND o.id = k.subject
	WHERE k.company_id = $1 AND k.state = 'DONE' AND k.subject <> '' AND k.body <> '' AND substr(k.body, 1, 7) <> 'sealed:'
		AND NOT EXISTS (SELECT 1 FROM card AS d WHERE d.company_id = k.company_id AND d.id = k.subject) AND NOT CASE
		WHEN k.status = 200 AND o.kind = 'payout' THEN strpos(k.body, '"reference":"' || o.id || '"') > 0
			AND strpos(k.body, '"amount":' || ` + operationNaira + ` || ',') > 0 AND strpos(k.body, '"fee":' || ` + operationFee + ` || ',') > 0
			AND (strpos(k.body, '"status":"PENDING"') > 0 OR strpos(k.body, '"status":"SUCCESS"') > 0 AND o.state IN ('SUCCESS', 'REVERSED'))
		WHEN k.status = 200 AND o.kind = 'vtu' THEN strpos(k.body, '"transactionId":"' || o.id || '"') > 0
			AND strpos(k.body, '"amount":"' || ` + operationDecimal + ` || '"') > 0
			AND (strpos(k.body, '"status":"PENDING"') > 0 OR strpos(k.body, '"status":"SUCCESS"') > 0 AND o.state IN ('SUCCESS', 'REVERSED'))
		WHEN k.status = 200 AND o.kind = 'card' THEN strpos(k.body, '"reference":"' || o.id || '"') > 0 AND o.state = 'SUCCESS'
		WHEN k.status = 400 AND o.kind = 'card' THEN strpos(k.body, '"reference":"' || o.id || '"') > 0 OR o.state = 'FAILED'
		WHEN k.status = 400 THEN o.state IN ('FAILED', 'REVERSED')
		ELSE 1 = 1 END
	ORDER BY k.value` + upTo},
}
