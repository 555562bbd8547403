-- card.cards
SELECT company_id, id, customer_id, state, provider, provider_card_id, account, kind, brand, currency,
	masked_pan, expiry_month, expiry_year, status, message, load_kobo, called_until, missing, created_at, updated_at FROM card 
		WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '') ORDER BY id DESC LIMIT $3 OFFSET $4;

-- card.countCards
SELECT count(*) FROM card WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '');

-- card.enter
INSERT INTO card_directory (provider, provider_card_id, company_id, card_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING;

-- card.findAddress
SELECT line1, line2, city, state, country, postal_code, created_at FROM card_address
		WHERE company_id = $1 ORDER BY version DESC LIMIT 1;

-- card.findCard
SELECT company_id, id, customer_id, state, provider, provider_card_id, account, kind, brand, currency,
	masked_pan, expiry_month, expiry_year, status, message, load_kobo, called_until, missing, created_at, updated_at FROM card WHERE company_id = $1 AND id = $2;

-- card.findHolder
SELECT provider, provider_id, card_id FROM card_holder WHERE company_id = $1 AND customer_id = $2;

-- card.fundedCard
SELECT card_id FROM card_funding WHERE company_id = $1 AND id = $2;

-- card.openFunding
SELECT id FROM card_funding
		WHERE company_id = $1 AND card_id = $2 AND amount_kobo = $3 AND state = 'OPEN' ORDER BY id LIMIT 1;

-- card.owner
SELECT company_id, card_id FROM card_directory WHERE provider = $1 AND provider_card_id = $2;

-- collection.byAccount
SELECT company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo,
	amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at
	FROM collection 
		WHERE company_id = $1 AND account_number = $2 AND account_number <> '' ORDER BY id DESC LIMIT 1;

-- collection.byExternal
SELECT company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo,
	amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at
	FROM collection WHERE company_id = $1 AND external_reference = $2;

-- collection.byReference
SELECT company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo,
	amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at
	FROM collection WHERE company_id = $1 AND reference = $2;

-- collection.find
SELECT company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo,
	amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at
	FROM collection WHERE company_id = $1 AND id = $2;

-- company.count
SELECT count(*) FROM company;

-- company.find
SELECT company_id, name, kyb_status, live, created_at, updated_at FROM company WHERE company_id = $1;

-- company.findKeys
SELECT company_id, id, hash, state, created_at, expires_at FROM company_api_key
		WHERE company_id = $1 ORDER BY created_at, id;

-- company.lockPIN
SELECT hash, state, failures FROM company_pin WHERE company_id = $1 FOR UPDATE;

-- company.page
SELECT company_id, name, kyb_status, live, created_at, updated_at FROM company ORDER BY created_at DESC, company_id LIMIT $1 OFFSET $2;

-- company.pinState
SELECT state FROM company_pin WHERE company_id = $1;

-- company.rehashKey
UPDATE company_api_key SET hash = $4 WHERE company_id = $1 AND id = $2 AND hash = $3;

-- company.replaceRefresh
INSERT INTO company_refresh_token (company_id, token_id, api_key_id, issued_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (company_id) DO UPDATE
		SET token_id = excluded.token_id, api_key_id = excluded.api_key_id, issued_at = excluded.issued_at;

-- company.savePIN
UPDATE company_pin SET hash = $2, state = $3, failures = $4, updated_at = $5 WHERE company_id = $1;

-- company.workingRefresh
SELECT t.token_id FROM company_refresh_token t
		JOIN company_api_key k ON k.company_id = t.company_id AND k.id = t.api_key_id
		WHERE t.company_id = $1 AND k.state = $2;

-- corporate.find
SELECT company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address, rn_number,
	settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at
	FROM corporate_account WHERE company_id = $1 AND id = $2;

-- corporate.findActive
SELECT company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address, rn_number,
	settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at
	FROM corporate_account WHERE company_id = $1 AND account_number = $2 AND state = 'ACTIVE';

-- corporate.findKYC
SELECT company_id, id, session_id, reference, created_at FROM corporate_kyc WHERE company_id = $1 AND id = $2;

-- corporate.findPending
SELECT company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address, rn_number,
	settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at
	FROM corporate_account WHERE company_id = $1 AND pending = $2 AND pending <> '';

-- crypto.addresses
SELECT company_id, key_id, address_index, network_id, address, label, state, custody, created_at FROM crypto_address 
		WHERE company_id = $1 AND network_id = $2 AND state = 'WATCHED' ORDER BY created_at, address_index;

-- crypto.countTransactions
SELECT count(*) FROM crypto_transaction 
	WHERE company_id = $1 AND (kind = $2 OR $2 = '') AND (state = $3 OR $3 = '') AND (network_id = $4 OR $4 = '')
		AND (asset = $5 OR $5 = '') AND (tx_hash = $6 OR $6 = '') AND (address = $7 OR $7 = '')
		AND (created_at >= $8 OR $8 = 0) AND (created_at < $9 OR $9 = 0);

-- crypto.draw
INSERT INTO crypto_number (name, last) VALUES ($1, 1)
			ON CONFLICT (name) DO UPDATE SET last = crypto_number.last + 1 RETURNING last;

-- crypto.enterAddress
INSERT INTO crypto_directory (network_id, address, company_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- crypto.enterKey
INSERT INTO crypto_owner (xpub, company_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- crypto.enterKey
SELECT company_id FROM crypto_owner WHERE xpub = $1;

-- crypto.findAddress
SELECT company_id, key_id, address_index, network_id, address, label, state, custody, created_at FROM crypto_address WHERE company_id = $1 AND key_id = $2 AND address_index = $3;

-- crypto.findKey
SELECT company_id, id, kind, version, xpub, source, created_at FROM crypto_key WHERE company_id = $1 AND kind = $2 ORDER BY version DESC LIMIT 1;

-- crypto.findSeen
SELECT company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash,
		block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at FROM crypto_transaction WHERE company_id = $1 AND seen = $2 ORDER BY attempt DESC LIMIT 1;

-- crypto.findTransaction
SELECT company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash,
		block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at FROM crypto_transaction WHERE company_id = $1 AND id = $2;

-- crypto.inBlocks
SELECT company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash,
		block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at FROM crypto_transaction WHERE network_id = $1 AND block_hash = ANY($2) AND block_hash <> '';

-- crypto.keys
SELECT company_id, id, kind, version, xpub, source, created_at FROM crypto_key WHERE company_id = $1 ORDER BY kind, version DESC;

-- crypto.nextIndex
SELECT coalesce(max(address_index), -1) + 1 FROM crypto_address WHERE company_id = $1 AND key_id = $2;

-- crypto.ours
SELECT address FROM crypto_directory WHERE network_id = $1 AND address = ANY($2);

-- crypto.ownerOf
SELECT company_id FROM crypto_directory WHERE network_id = $1 AND address = $2;

-- crypto.releaseCursor
UPDATE crypto_cursor SET cursor = $3, lease_until = 0, updated_at = $4 WHERE custody = $1 AND reader = $2;

-- crypto.takeCursor
INSERT INTO crypto_cursor (custody, cursor, reader, lease_until, updated_at) VALUES ($1, '', $2, $4, $3)
			ON CONFLICT (custody) DO UPDATE SET reader = excluded.reader, lease_until = excluded.lease_until
			WHERE crypto_cursor.lease_until <= $3 OR crypto_cursor.reader = $2;

-- crypto.takeCursor
SELECT cursor FROM crypto_cursor WHERE custody = $1;

-- crypto.transactions
SELECT company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash,
		block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at FROM crypto_transaction 
	WHERE company_id = $1 AND (kind = $2 OR $2 = '') AND (state = $3 OR $3 = '') AND (network_id = $4 OR $4 = '')
		AND (asset = $5 OR $5 = '') AND (tx_hash = $6 OR $6 = '') AND (address = $7 OR $7 = '')
		AND (created_at >= $8 OR $8 = 0) AND (created_at < $9 OR $9 = 0) ORDER BY id DESC LIMIT $10 OFFSET $11;

-- customer.countMatches
SELECT count(*) FROM customer WHERE company_id = $1 AND search LIKE $2 ESCAPE '\';

-- customer.customers
SELECT c.company_id, c.id, c.first_name, c.middle_name, c.last_name, c.email, c.phone_number, c.date_of_birth,
	c.address, c.status, c.created_at, c.updated_at, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0)
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' WHERE c.company_id = $1 AND c.number <= $2 AND c.number > $3 ORDER BY c.number DESC;

-- customer.findByAccount
SELECT c.company_id, c.id, c.first_name, c.middle_name, c.last_name, c.email, c.phone_number, c.date_of_birth,
	c.address, c.status, c.created_at, c.updated_at, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0)
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' WHERE a.company_id = $1 AND a.account_number = $2 AND a.account_number <> '';

-- customer.findByEmail
SELECT c.company_id, c.id, c.first_name, c.middle_name, c.last_name, c.email, c.phone_number, c.date_of_birth,
	c.address, c.status, c.created_at, c.updated_at, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0)
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' 
		JOIN customer_email AS e ON e.company_id = c.company_id AND e.customer_id = c.id
		WHERE e.company_id = $1 AND e.email = $2;

-- customer.findByID
SELECT c.company_id, c.id, c.first_name, c.middle_name, c.last_name, c.email, c.phone_number, c.date_of_birth,
	c.address, c.status, c.created_at, c.updated_at, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0)
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' WHERE c.company_id = $1 AND c.id = $2;

-- customer.findOpening
SELECT company_id, customer_id, state, turn, called_until, reference, missing, settlement_id, created_at
		FROM customer_account WHERE company_id = $1 AND customer_id = $2;

-- customer.findTransaction
SELECT t.company_id, t.id, t.customer_id, c.first_name, c.last_name, t.settlement_id, t.amount_kobo,
	t.kind, t.status, t.narration, t.session_id, t.created_at
	FROM customer_transaction AS t JOIN customer AS c ON c.company_id = t.company_id AND c.id = t.customer_id WHERE t.company_id = $1 AND t.customer_id = $2 AND t.id = $3;

-- customer.matches
SELECT c.company_id, c.id, c.first_name, c.middle_name, c.last_name, c.email, c.phone_number, c.date_of_birth,
	c.address, c.status, c.created_at, c.updated_at, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0)
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' 
		WHERE c.company_id = $1 AND c.search LIKE $2 ESCAPE '\' ORDER BY c.number DESC LIMIT $3 OFFSET $4;

-- customer.reserved
SELECT customer_id FROM customer_email WHERE company_id = $1 AND email = $2;

-- customer.transactions
SELECT t.company_id, t.id, t.customer_id, c.first_name, c.last_name, t.settlement_id, t.amount_kobo,
	t.kind, t.status, t.narration, t.session_id, t.created_at
	FROM customer_transaction AS t JOIN customer AS c ON c.company_id = t.company_id AND c.id = t.customer_id WHERE t.company_id = $1 AND t.number <= $2 AND t.number > $3 ORDER BY t.number DESC;

-- customer.transactionsOf
SELECT t.company_id, t.id, t.customer_id, c.first_name, c.last_name, t.settlement_id, t.amount_kobo,
	t.kind, t.status, t.narration, t.session_id, t.created_at
	FROM customer_transaction AS t JOIN customer AS c ON c.company_id = t.company_id AND c.id = t.customer_id WHERE t.company_id = $1 AND t.customer_id = $2 ORDER BY t.number DESC LIMIT $3;

-- event.find
SELECT company_id, sequence, id, kind, data, created_at FROM event WHERE company_id = $1 AND id = $2;

-- event.page
SELECT company_id, sequence, id, kind, data, created_at FROM event WHERE company_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3;

-- idempotency.find
SELECT fingerprint, state, subject, body, status, running_until, created_at FROM idempotency_key
		WHERE company_id = $1 AND value = $2;

-- identity.find
SELECT company_id, id, purpose, subject, bvn, state, turn, attempts, reference, asked_at, created_at, updated_at
	FROM identity_session WHERE company_id = $1 AND id = $2 AND purpose = $3;

-- identity.open
SELECT company_id, id, purpose, subject, bvn, state, turn, attempts, reference, asked_at, created_at, updated_at
	FROM identity_session WHERE company_id = $1 AND purpose = $2 AND subject = ANY($3) AND subject <> '';

-- inbox.advance
UPDATE inbox_sweep SET done_until = $5, round_at = $6, page = $7, next_until = $8
		WHERE company_id = $1 AND provider = $2 AND round_at = $3 AND page = $4;

-- inbox.clear
DELETE FROM inbox_notification WHERE company_id = $1 AND id IN (
			SELECT id FROM inbox_notification
			WHERE company_id = $1 AND received_at < $2 AND state <> 'NEW' ORDER BY received_at LIMIT $3);

-- inbox.end
UPDATE inbox_notification SET state = $3, detail = $4, worked_at = $5
		WHERE company_id = $1 AND id = $2 AND state = 'NEW';

-- inbox.find
SELECT id, provider, body, state, detail, received_at, worked_at FROM inbox_notification
		WHERE company_id = $1 AND id = $2;

-- inbox.findSweep
SELECT done_until, round_at, page, next_until FROM inbox_sweep WHERE company_id = $1 AND provider = $2;

-- job.Reschedule
UPDATE job SET run_at = $4
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND lease_until = 0;

-- job.again
UPDATE job SET run_at = $6, lease_until = 0, last_error = $7
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5;

-- job.due
SELECT company_id, id, kind, subject, run_at, attempts, fence FROM job
		WHERE run_at <= $1 AND lease_until <= $1 AND kind = ANY($2) ORDER BY run_at LIMIT $3;

-- job.finish
DELETE FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5;

-- job.outstanding
SELECT count(company_id) FROM job WHERE run_at <= $1 AND kind = ANY($2);

-- job.renew
UPDATE job SET lease_until = $6
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5;

-- job.take
UPDATE job SET lease_until = $5, fence = fence + 1, attempts = attempts + 1
		WHERE company_id = $1 AND kind = $2 AND subject = ANY($3) AND lease_until <= $4 AND run_at <= $4
		RETURNING company_id, id, kind, subject, run_at, attempts, fence;

-- ledger.Alerts
SELECT id, alert_kobo FROM ledger_account WHERE company_id = $1 AND alert_kobo > 0;

-- ledger.Balance
SELECT balance_kobo FROM ledger_account WHERE company_id = $1 AND id = $2;

-- ledger.Balances
SELECT id, balance_kobo FROM ledger_account WHERE company_id = $1;

-- ledger.Exists
SELECT count(*) FROM ledger_head WHERE company_id = $1;

-- ledger.Head
SELECT event_sequence FROM ledger_head WHERE company_id = $1;

-- ledger.Heads
SELECT company_id, event_sequence FROM ledger_head WHERE company_id = ANY($1);

-- ledger.Last
SELECT value FROM ledger_counter WHERE company_id = $1 AND name = $2;

-- ledger.Passed
SELECT count(*) FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 AND (debit_account = $3 OR credit_account = $3);

-- ledger.Taken
SELECT count(*) FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 AND step = $3;

-- ledger.accountSums
SELECT a.id, a.floor_kobo, a.balance_kobo, a.entry_sequence,
			CAST(coalesce(e.total, 0) AS BIGINT), coalesce(e.entries, 0), coalesce(e.last, 0), coalesce(l.current_kobo, 0)
		FROM ledger_account AS a
		LEFT JOIN (
			SELECT company_id, account_id, sum(amount_kobo) AS total, count(*) AS entries, max(sequence) AS last
			FROM ledger_entry WHERE company_id = $1 GROUP BY company_id, account_id
		) AS e ON e.company_id = a.company_id AND e.account_id = a.id
		LEFT JOIN ledger_entry AS l ON l.company_id = a.company_id AND l.account_id = a.id AND l.sequence = e.last
		WHERE a.company_id = $1 ORDER BY a.id;

-- ledger.brokenLinks
SELECT account_id, sequence, before, previous_kobo FROM (
			SELECT account_id, sequence, previous_kobo,
				coalesce(lag(current_kobo) OVER (PARTITION BY account_id ORDER BY sequence), 0) AS before
			FROM ledger_entry WHERE company_id = $1
		) AS chain WHERE before <> previous_kobo ORDER BY account_id, sequence LIMIT 20;

-- ledger.read
SELECT event_sequence FROM ledger_head WHERE company_id = $1;

-- ledger.transferCount
SELECT count(*) FROM ledger_transfer WHERE company_id = $1;

-- ledger.unpairedTransfers
SELECT e.reference || ' ' || e.step FROM ledger_entry AS e
		LEFT JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
			AND (t.debit_account = e.account_id AND t.debit_entry = e.sequence OR t.credit_account = e.account_id AND t.credit_entry = e.sequence)
		WHERE e.company_id = $1 AND t.reference IS NULL LIMIT 20;

-- ledger.unpairedTransfers
SELECT t.reference || ' ' || t.step FROM ledger_transfer AS t
		LEFT JOIN ledger_entry AS d ON d.company_id = t.company_id AND d.account_id = t.debit_account AND d.sequence = t.debit_entry
			AND d.reference = t.reference AND d.step = t.step AND d.amount_kobo = -t.amount_kobo
		LEFT JOIN ledger_entry AS c ON c.company_id = t.company_id AND c.account_id = t.credit_account AND c.sequence = t.credit_entry
			AND c.reference = t.reference AND c.step = t.step AND c.amount_kobo = t.amount_kobo
		WHERE t.company_id = $1 AND (d.reference IS NULL OR c.reference IS NULL) LIMIT 20;

-- operation.caseCount
SELECT count(company_id) FROM operation_case WHERE state = $1 AND ($2 = '' OR company_id = $2) AND ($3 = '' OR reason = $3) AND ($4 = '' OR subject = $4);

-- operation.cases
SELECT company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
	target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at FROM operation_case
		WHERE state = $1 AND ($2 = '' OR company_id = $2) AND ($3 = '' OR reason = $3) AND ($4 = '' OR subject = $4) ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6;

-- operation.find
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at FROM operation WHERE company_id = $1 AND id = $2;

-- operation.findByKey
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at FROM operation
		WHERE company_id = $1 AND kind = $2 AND idempotency_key = $3 AND idempotency_key <> '';

-- operation.findCase
SELECT company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
	target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at FROM operation_case WHERE id = $1 ORDER BY company_id;

-- operation.lastCase
SELECT company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
	target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at FROM operation_case
		WHERE company_id = $1 AND subject = $2 AND reason = $3 ORDER BY turn DESC LIMIT 1;

-- operation.openOf
SELECT company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
	target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at FROM operation_case
		WHERE state = 'OPEN' AND reason = $1 AND amount_kobo = $2 ORDER BY company_id, id;

-- operator.closeDoor
INSERT INTO operator_door (id, reason, closed_at) VALUES (1, $1, $2)
		ON CONFLICT (id) DO UPDATE SET reason = excluded.reason;

-- operator.countLines
SELECT count(*) FROM operator_audit WHERE ($1 = '' OR company_id = $1);

-- operator.findDoor
SELECT reason, closed_at FROM operator_door WHERE id = 1;

-- operator.findKeys
SELECT id, name, hash, state, created_at FROM operator_key ORDER BY created_at, id;

-- operator.insertKey
INSERT INTO operator_key (id, name, hash, state, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING;

-- operator.insertLine
INSERT INTO operator_audit (company_id, id, operator, action, subject, details, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7);

-- operator.insertProof
INSERT INTO operator_keyring (key_id, proof, seen_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- operator.lines
SELECT company_id, id, operator, action, subject, details, created_at FROM operator_audit
		WHERE ($1 = '' OR company_id = $1) ORDER BY id DESC LIMIT $2 OFFSET $3;

-- operator.openDoor
DELETE FROM operator_door WHERE id = 1;

-- operator.proofs
SELECT key_id, proof FROM operator_keyring;

-- operator.rehashKey
UPDATE operator_key SET hash = $3 WHERE id = $1 AND hash = $2;

-- operator.revokeKey
UPDATE operator_key SET state = $2 WHERE name = $1 AND state = $3;

-- payout.bands
SELECT from_kobo, flat_kobo, basis_points, cap_kobo, created_at FROM payout_fee
		WHERE company_id = $1 AND version = (SELECT max(version) FROM payout_fee WHERE company_id = $1)
		ORDER BY from_kobo;

-- payout.bankName
SELECT name FROM payout_bank WHERE provider = $1 AND code = $2;

-- payout.banks
SELECT name, code FROM payout_bank WHERE provider = $1 AND active = 1;

-- payout.dueSync
UPDATE payout_sync SET due_at = $2 WHERE provider = $1;

-- payout.findLimit
SELECT amount_kobo, payouts, created_at FROM payout_limit
		WHERE company_id = $1 AND settlement_id = $2 ORDER BY version DESC LIMIT 1;

-- payout.findPayout
SELECT v.company_id, v.id, v.settlement_id, v.provider, v.bank_code, v.bank_name,
	v.account_number, v.account_name, v.session, v.created_at, payout.narration
		FROM payout JOIN payout_verification AS v ON v.company_id = payout.company_id AND v.id = payout.id
		WHERE payout.company_id = $1 AND payout.id = $2;

-- payout.findVerification
SELECT v.company_id, v.id, v.settlement_id, v.provider, v.bank_code, v.bank_name,
	v.account_number, v.account_name, v.session, v.created_at FROM payout_verification AS v WHERE v.company_id = $1 AND v.id = $2;

-- payout.owner
SELECT company_id FROM payout WHERE id = $1;

-- payout.retireBanks
UPDATE payout_bank SET active = 0 WHERE provider = $1 AND updated_at < $2;

-- payout.saveBank
INSERT INTO payout_bank (provider, code, name, active, updated_at) VALUES ($1, $2, $3, 1, $4)
		ON CONFLICT (provider, code) DO UPDATE SET name = excluded.name, active = 1, updated_at = excluded.updated_at;

-- payout.takeSync
INSERT INTO payout_sync (provider, due_at) VALUES ($1, $3)
		ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE payout_sync.due_at <= $2;

-- report.answers
SELECT poll, outcome, code, message, reference, answered_at FROM operation_answer
		WHERE company_id = $1 AND operation_id = $2 ORDER BY id;

-- report.auditSteps
SELECT operator, action, details, created_at FROM operator_audit
		WHERE company_id = $1 AND subject = $2 AND created_at >= $3 ORDER BY id;

-- report.balanceBefore
SELECT current_kobo FROM ledger_entry WHERE company_id = $1 AND account_id = $2 AND sequence = $3;

-- report.collectionsWithoutPayment
SELECT v.id FROM collection AS v
		LEFT JOIN settlement_credit AS c ON c.company_id = v.company_id AND c.id = v.credit_id AND c.account_number = v.account_number
		WHERE v.company_id = $1 AND v.state = 'SUCCESS' AND c.id IS NULL ORDER BY v.id LIMIT 20;

-- report.corrections
SELECT t.reference, CAST(sum(CASE WHEN t.debit_account = $3 THEN t.amount_kobo ELSE -t.amount_kobo END) AS BIGINT)
		FROM ledger_transfer AS t WHERE t.company_id = $1 AND t.reference = ANY($2) AND t.kind = $4 GROUP BY t.reference;

-- report.creditsWithoutMoney
SELECT c.id FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id AND t.step = '' AND t.amount_kobo = c.amount_kobo
			AND t.credit_account = CASE WHEN c.settlement_id = 0 THEN 'suspense/inbound' ELSE 'settlement/' || CAST(c.settlement_id AS TEXT) END
		WHERE c.company_id = $1 AND t.reference IS NULL ORDER BY c.id LIMIT 20;

-- report.entryCount
SELECT count(e.company_id) FROM ledger_entry AS e
		WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence >= $3 AND e.sequence < $4
			AND (e.amount_kobo > 0 OR $5 <> 'credit') AND (e.amount_kobo < 0 OR $5 <> 'debit');

-- report.entryTime
SELECT created_at FROM ledger_entry WHERE company_id = $1 AND account_id = $2 AND sequence = $3;

-- report.eventCount
SELECT count(*), coalesce(max(sequence), 0) FROM event WHERE company_id = $1;

-- report.eventsAround
SELECT sequence, kind, data, created_at FROM event WHERE company_id = $1 AND sequence >= $2 ORDER BY sequence LIMIT $3;

-- report.feesCount
SELECT count(DISTINCT version) FROM payout_fee WHERE company_id = $1;

-- report.feesSet
SELECT f.version, f.from_kobo, f.flat_kobo, f.basis_points, f.cap_kobo, f.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = f.company_id AND a.action = 'payout.fees' AND a.subject = f.version), '')
		FROM payout_fee AS f
		WHERE f.company_id = $1 AND f.version IN (
			SELECT DISTINCT version FROM payout_fee WHERE company_id = $1 ORDER BY version DESC LIMIT $2 OFFSET $3)
		ORDER BY f.version DESC, f.from_kobo;

-- report.findOutcome
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at,
	CASE WHEN EXISTS (SELECT 1 FROM operation_case AS c
		WHERE c.company_id = operation.company_id AND c.subject = operation.id AND c.state = 'OPEN')
	THEN 1 ELSE 0 END FROM operation WHERE operation.company_id = $1 AND operation.id = $2;

-- report.firstEventAt
SELECT created_at FROM event WHERE company_id = $1 AND sequence = $2;

-- report.firstEventAt
SELECT event_sequence FROM ledger_head WHERE company_id = $1;

-- report.heads
SELECT company_id, event_sequence FROM ledger_head ORDER BY company_id;

-- report.holder
SELECT c.name, a.name, coalesce(b.account_number, ''), coalesce(b.bank_name, ''), a.created_at
		FROM settlement_account AS a
		JOIN company AS c ON c.company_id = a.company_id
		LEFT JOIN settlement_bank_account AS b ON b.company_id = a.company_id AND b.settlement_id = a.id
		WHERE a.company_id = $1 AND a.id = $2 ORDER BY b.created_at, b.account_number LIMIT 1;

-- report.intent
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at FROM operation WHERE operation.company_id = $1 AND operation.id = $2;

-- report.keepers
SELECT company_id FROM ledger_account WHERE id = $1 ORDER BY company_id;

-- report.lastEntries
SELECT e.account_id, e.sequence, e.step, e.amount_kobo, e.previous_kobo, e.current_kobo, e.created_at,
		t.kind, t.reference, t.narration, coalesce(o.state, ''), coalesce(o.fee_kobo, 0), coalesce(c.customer_id, '')
	FROM ledger_entry AS e
	JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
	LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = t.reference
	LEFT JOIN customer_transaction AS c ON c.company_id = e.company_id AND c.id = t.reference 
		WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence >= $3 AND e.sequence < $4
			AND (e.amount_kobo > 0 OR $5 <> 'credit') AND (e.amount_kobo < 0 OR $5 <> 'debit')
		ORDER BY e.sequence DESC LIMIT $6;

-- report.limitsCount
SELECT count(*) FROM payout_limit WHERE company_id = $1;

-- report.limitsSet
SELECT l.settlement_id, l.amount_kobo, l.payouts, l.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = l.company_id AND a.action = 'payout.limit'
				AND a.subject = CAST(l.settlement_id AS TEXT) AND a.created_at = l.created_at), '')
		FROM payout_limit AS l WHERE l.company_id = $1
		ORDER BY l.version DESC LIMIT $2 OFFSET $3;

-- report.nextEntries
SELECT e.account_id, e.sequence, e.step, e.amount_kobo, e.previous_kobo, e.current_kobo, e.created_at,
		t.kind, t.reference, t.narration, coalesce(o.state, ''), coalesce(o.fee_kobo, 0), coalesce(c.customer_id, '')
	FROM ledger_entry AS e
	JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
	LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = t.reference
	LEFT JOIN customer_transaction AS c ON c.company_id = e.company_id AND c.id = t.reference 
		WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence >= $3 AND e.sequence < $4
		ORDER BY e.sequence;

-- report.oneEntry
SELECT e.account_id, e.sequence, e.step, e.amount_kobo, e.previous_kobo, e.current_kobo, e.created_at,
		t.kind, t.reference, t.narration, coalesce(o.state, ''), coalesce(o.fee_kobo, 0), coalesce(c.customer_id, '')
	FROM ledger_entry AS e
	JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
	LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = t.reference
	LEFT JOIN customer_transaction AS c ON c.company_id = e.company_id AND c.id = t.reference WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence = $3;

-- report.openOperations
SELECT count(*), CAST(coalesce(sum(amount_kobo + fee_kobo), 0) AS BIGINT)
		FROM operation WHERE company_id = $1 AND state = 'PENDING';

-- report.payments
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at, (
			SELECT CAST(coalesce(sum(CASE WHEN t.credit_account = $4 THEN t.amount_kobo ELSE -t.amount_kobo END), 0) AS BIGINT)
			FROM ledger_transfer AS t
			WHERE t.company_id = operation.company_id AND t.reference = operation.id
				AND (t.credit_account = $4 OR t.debit_account = $4) AND t.kind <> $5
		), (
			SELECT CAST(coalesce(sum(CASE WHEN t.credit_account = $4 THEN t.amount_kobo ELSE -t.amount_kobo END), 0) AS BIGINT)
			FROM ledger_transfer AS t
			WHERE t.company_id = operation.company_id AND t.reference = operation.id
				AND (t.credit_account = $4 OR t.debit_account = $4) AND t.kind = $5
		)
		FROM operation
		WHERE operation.company_id = $1 AND operation.id = ANY($3) AND operation.provider = $2
		ORDER BY operation.id;

-- report.pending
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at,
	CASE WHEN EXISTS (SELECT 1 FROM operation_case AS c
		WHERE c.company_id = operation.company_id AND c.subject = operation.id AND c.state = 'OPEN')
	THEN 1 ELSE 0 END FROM operation 
		WHERE operation.company_id = $1 AND operation.state = 'PENDING'
		ORDER BY operation.id DESC LIMIT $2 OFFSET $3;

-- report.pendingCount
SELECT count(*) FROM operation WHERE company_id = $1 AND state = 'PENDING';

-- report.pendingSince
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at FROM operation
		WHERE operation.state = 'PENDING' AND operation.created_at < $1
		ORDER BY operation.company_id, operation.kind, operation.id;

-- report.purchaseCount
SELECT count(p.id) FROM vtu_purchase AS p JOIN operation
	ON operation.company_id = p.company_id AND operation.id = p.id
	WHERE p.company_id = $1
		AND (p.kind = $2 OR $2 = '')
		AND (operation.state = $3 OR $3 = '')
		AND (operation.settlement_id = $4 OR $4 = 0)
		AND (operation.created_at >= $5 OR $5 = 0)
		AND (operation.created_at < $6 OR $6 = 0);

-- report.purchases
SELECT operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at, p.kind, p.category_id, p.product_id, p.product_name, p.phone_number, p.card_number, p.meter_number,
	p.verification_id FROM vtu_purchase AS p JOIN operation
	ON operation.company_id = p.company_id AND operation.id = p.id
	WHERE p.company_id = $1
		AND (p.kind = $2 OR $2 = '')
		AND (operation.state = $3 OR $3 = '')
		AND (operation.settlement_id = $4 OR $4 = 0)
		AND (operation.created_at >= $5 OR $5 = 0)
		AND (operation.created_at < $6 OR $6 = 0) ORDER BY p.id DESC LIMIT $7 OFFSET $8;

-- report.receipts
SELECT c.company_id, c.session_id, c.amount_kobo, c.told_at,
			CAST(coalesce(sum(CASE WHEN t.debit_account = $4 THEN t.amount_kobo WHEN t.credit_account = $4 THEN -t.amount_kobo ELSE 0 END), 0) AS BIGINT),
			coalesce(max(t.created_at), c.created_at)
		FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id
		WHERE c.company_id = $1 AND c.provider = $2 AND c.id = ANY($3)
		GROUP BY c.company_id, c.id, c.session_id, c.amount_kobo, c.told_at, c.created_at ORDER BY c.id;

-- report.receiptsOf
SELECT c.company_id, c.session_id, c.amount_kobo, c.told_at,
			CAST(coalesce(sum(CASE WHEN t.debit_account = $4 THEN t.amount_kobo WHEN t.credit_account = $4 THEN -t.amount_kobo ELSE 0 END), 0) AS BIGINT),
			coalesce(max(t.created_at), c.created_at)
		FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id
		WHERE c.company_id = $1 AND c.provider = $2 AND c.session_id = ANY($3)
		GROUP BY c.company_id, c.id, c.session_id, c.amount_kobo, c.told_at, c.created_at ORDER BY c.id;

-- report.referencesSince
SELECT entry_sequence FROM ledger_account WHERE company_id = $1 AND id = $2;

-- report.referencesSince
SELECT reference, created_at FROM ledger_entry
			WHERE company_id = $1 AND account_id = $2 AND sequence <= $3 AND sequence > $4 ORDER BY sequence DESC;

-- report.sessionOwners
SELECT session_id, company_id FROM settlement_session WHERE provider = $1 AND session_id = ANY($2);

-- report.subjectOf
SELECT id FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3;

-- report.sums
SELECT CAST(coalesce(sum(CASE WHEN amount_kobo > 0 THEN amount_kobo ELSE 0 END), 0) AS BIGINT),
			CAST(coalesce(sum(CASE WHEN amount_kobo < 0 THEN -amount_kobo ELSE 0 END), 0) AS BIGINT)
		FROM ledger_entry WHERE company_id = $1 AND account_id = $2 AND sequence >= $3 AND sequence < $4;

-- report.suspended
SELECT CAST(coalesce(sum(c.amount_kobo), 0) AS BIGINT) FROM settlement_credit AS c
		WHERE c.company_id = $1 AND c.settlement_id = 0 AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
			WHERE t.company_id = c.company_id AND t.reference = c.id AND t.kind = 'assign');

-- report.touchedSince
SELECT id FROM ledger_account WHERE company_id = $1 AND (id = $2 OR id LIKE 'clearing/%');

-- report.transferSides
SELECT debit_account, debit_entry, credit_account, credit_entry FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 ORDER BY created_at, step;

-- report.transferSteps
SELECT t.debit_account, t.credit_account, t.amount_kobo, t.kind, t.narration, d.current_kobo, e.current_kobo, t.created_at
		FROM ledger_transfer AS t
		JOIN ledger_entry AS d ON d.company_id = t.company_id AND d.account_id = t.debit_account AND d.sequence = t.debit_entry
		JOIN ledger_entry AS e ON e.company_id = t.company_id AND e.account_id = t.credit_account AND e.sequence = t.credit_entry
		WHERE t.company_id = $1 AND t.reference = $2 ORDER BY t.created_at, t.step;

-- report.wholeSpans
SELECT id, entry_sequence + 1 FROM ledger_account
		WHERE company_id = $1 AND id LIKE 'settlement/%' AND (id = $2 OR $2 = '') ORDER BY id;

-- settlement.accounts
SELECT company_id, id, name, status, created_at FROM settlement_account WHERE company_id = $1 ORDER BY id;

-- settlement.adjustments
SELECT company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note,
		created_at, decided_at
	FROM settlement_adjustment WHERE ($1 = '' OR state = $1) ORDER BY id DESC LIMIT $2 OFFSET $3;

-- settlement.countAdjustments
SELECT count(*) FROM settlement_adjustment WHERE ($1 = '' OR state = $1);

-- settlement.credited
SELECT count(*) FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3;

-- settlement.decideFor
INSERT INTO settlement_session (provider, session_id, company_id) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING;

-- settlement.draw
INSERT INTO settlement_number (name, last) VALUES ('account', 1)
			ON CONFLICT (name) DO UPDATE SET last = settlement_number.last + 1 RETURNING last;

-- settlement.enter
INSERT INTO settlement_directory (account_number, bank_code, company_id) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING;

-- settlement.fed
SELECT settlement_id FROM settlement_bank_account WHERE company_id = $1 AND account_number = $2;

-- settlement.feeders
SELECT settlement_id, created_at, account_number, account_name, bank_name, bank_code FROM settlement_bank_account
		WHERE company_id = $1;

-- settlement.findAdjustment
SELECT company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note,
		created_at, decided_at
	FROM settlement_adjustment WHERE id = $1;

-- settlement.holders
SELECT DISTINCT company_id FROM settlement_directory WHERE account_number = $1 LIMIT 2;

-- settlement.ownerOf
SELECT company_id FROM settlement_directory WHERE account_number = $1 AND bank_code = $2;

-- settlement.sessionOf
SELECT company_id FROM settlement_session WHERE provider = $1 AND session_id = $2;

-- settlement.status
SELECT status FROM settlement_account WHERE company_id = $1 AND id = $2;

-- settlement.suspendedIn
SELECT id, session_id, provider, account_number, amount_kobo, sender_name, sender_account, sender_bank, narration,
		reference, told_at FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3;

-- vtu.categories
SELECT c.id, c.service_id, c.name, c.code, c.vendor, v.kind, c.provider
	FROM vtu_category AS c JOIN vtu_service AS v ON v.id = c.service_id WHERE c.service_id = $1 AND c.active = 1 ORDER BY c.name, c.id;

-- vtu.dueSync
UPDATE vtu_sync SET due_at = $2 WHERE provider = $1;

-- vtu.findProduct
SELECT id, name, validity, amount_kobo, fixed_amount, code FROM vtu_product WHERE category_id = $1 AND id = $2 AND active = 1;

-- vtu.findPurchase
SELECT p.kind, p.category_id, p.product_id, p.product_name, p.phone_number, p.card_number, p.meter_number,
	p.verification_id FROM vtu_purchase AS p WHERE company_id = $1 AND id = $2;

-- vtu.findVerification
SELECT id, category_id, kind, entity_number, customer_name, address, current_package, due_date,
			vend_type, renewal_kobo, least_kobo, most_kobo, created_at
		FROM vtu_verification WHERE company_id = $1 AND id = $2;

-- vtu.products
SELECT id, name, validity, amount_kobo, fixed_amount, code FROM vtu_product WHERE category_id = $1 AND active = 1 ORDER BY amount_kobo, name, id;

-- vtu.retireCategories
UPDATE vtu_category SET active = 0 WHERE provider = $1 AND updated_at < $2;

-- vtu.retireProducts
UPDATE vtu_product SET active = 0 WHERE category_id = $1 AND updated_at < $2;

-- vtu.saveCategory
INSERT INTO vtu_category (id, service_id, provider, code, vendor, name, active, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7)
		ON CONFLICT (service_id, provider, code) DO UPDATE SET
			vendor = excluded.vendor, name = excluded.name, active = 1, updated_at = excluded.updated_at
		RETURNING id;

-- vtu.saveProduct
INSERT INTO vtu_product (id, category_id, code, name, validity, amount_kobo, fixed_amount, active, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8)
		ON CONFLICT (category_id, code) DO UPDATE SET name = excluded.name, validity = excluded.validity,
			amount_kobo = excluded.amount_kobo, fixed_amount = excluded.fixed_amount, active = 1, updated_at = excluded.updated_at;

-- vtu.saveService
INSERT INTO vtu_service (id, kind, name) VALUES ($1, $2, $3)
		ON CONFLICT (kind) DO UPDATE SET name = excluded.name RETURNING id;

-- vtu.serviceActive
SELECT count(*) FROM vtu_category WHERE service_id = $1 AND active = 1;

-- vtu.services
SELECT v.id, v.name, v.kind FROM vtu_service AS v
		WHERE EXISTS (SELECT 1 FROM vtu_category AS c WHERE c.service_id = v.id AND c.active = 1) ORDER BY v.name, v.id;

-- vtu.siblings
SELECT c.id, c.service_id, c.name, c.code, c.vendor, v.kind, c.provider
	FROM vtu_category AS c JOIN vtu_service AS v ON v.id = c.service_id 
		JOIN vtu_category AS this ON this.service_id = c.service_id AND this.vendor = c.vendor
		WHERE this.id = $1 AND c.active = 1;

-- vtu.takeSync
INSERT INTO vtu_sync (provider, due_at) VALUES ($1, $3)
		ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE vtu_sync.due_at <= $2;

-- vtu.verificationState
SELECT state FROM vtu_verification WHERE company_id = $1 AND id = $2;

-- webhook.all
SELECT company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures,
	failed_at, created_at, updated_at FROM webhook_endpoint WHERE state <> 'DELETED' AND (state = $1 OR $1 = '')
		ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3;

-- webhook.allCount
SELECT count(*) FROM webhook_endpoint WHERE state <> 'DELETED' AND (state = $1 OR $1 = '');

-- webhook.bringForward
UPDATE webhook_lane SET due_at = $4
		WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;

-- webhook.deliveries
SELECT company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms,
	excerpt, trouble, next_at, created_at, updated_at FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND (state = $3 OR $3 = '')
		ORDER BY id DESC LIMIT $4 OFFSET $5;

-- webhook.deliveries
SELECT company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms,
	excerpt, trouble, next_at, created_at, updated_at FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'FAILED'
			ORDER BY id DESC LIMIT $3 OFFSET $4;

-- webhook.deliveries
SELECT company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms,
	excerpt, trouble, next_at, created_at, updated_at FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'
			ORDER BY id DESC LIMIT $3 OFFSET $4;

-- webhook.deliveryCount
SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2;

-- webhook.doneWith
SELECT id FROM (
			SELECT id, updated_at FROM webhook_delivery
			WHERE company_id = $1 AND endpoint_id = $2 AND (state <> 'PENDING' OR $3 = 'DELETED')
			ORDER BY company_id, endpoint_id, id LIMIT $4) AS oldest
		WHERE updated_at < $5;

-- webhook.dueDeliveries
SELECT company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms,
	excerpt, trouble, next_at, created_at, updated_at FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'
		AND next_at <= $3 ORDER BY next_at LIMIT $4;

-- webhook.endpoints
SELECT company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures,
	failed_at, created_at, updated_at FROM webhook_endpoint WHERE company_id = $1 AND state <> 'DELETED' ORDER BY id DESC;

-- webhook.endpointsAfter
SELECT company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures,
	failed_at, created_at, updated_at FROM webhook_endpoint WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3;

-- webhook.failedCount
SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'FAILED';

-- webhook.findDelivery
SELECT company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms,
	excerpt, trouble, next_at, created_at, updated_at FROM webhook_delivery WHERE company_id = $1 AND id = $2;

-- webhook.findEndpoint
SELECT company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures,
	failed_at, created_at, updated_at FROM webhook_endpoint WHERE company_id = $1 AND id = $2;

-- webhook.findLane
SELECT company_id, endpoint_id, id, kind, sequence, through, due_at, fence, 0
		FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;

-- webhook.firstRetry
SELECT coalesce(min(next_at), 0) FROM webhook_delivery
		WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING';

-- webhook.idleLanes
SELECT l.company_id, l.endpoint_id, l.id, l.kind, l.sequence, l.through, l.due_at, l.fence, e.failures
	FROM webhook_lane AS l JOIN webhook_endpoint AS e ON e.company_id = l.company_id AND e.id = l.endpoint_id
	WHERE e.state IN ('ACTIVE', 'FAILING') AND l.lease_until <= $1 AND l.due_at <= $1 AND (l.due_at > 0 OR l.kind = 'events') AND l.company_id = ANY($2);

-- webhook.idleLanes
SELECT l.company_id, l.endpoint_id, l.id, l.kind, l.sequence, l.through, l.due_at, l.fence, e.failures
	FROM webhook_lane AS l JOIN webhook_endpoint AS e ON e.company_id = l.company_id AND e.id = l.endpoint_id
	WHERE e.state IN ('ACTIVE', 'FAILING') AND l.lease_until <= $1 AND l.due_at <= $1 AND (l.due_at > 0 OR l.kind = 'events');

-- webhook.pendingCount
SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING';

-- webhook.places
SELECT e.company_id, e.id, e.state, l.sequence, l.due_at
		FROM webhook_endpoint AS e JOIN webhook_lane AS l ON l.company_id = e.company_id AND l.endpoint_id = e.id AND l.id = 'events'
		WHERE e.state <> 'DELETED';

-- webhook.recovered
UPDATE webhook_delivery SET next_at = $3
			WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING' AND next_at > $3;

-- webhook.recovered
UPDATE webhook_lane SET due_at = $3
			WHERE company_id = $1 AND endpoint_id = $2 AND due_at > $3;

-- webhook.release
DELETE FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;

-- webhook.release
SELECT fence FROM webhook_lane
			WHERE company_id = $1 AND endpoint_id = $2 AND id = $3 FOR UPDATE;

-- webhook.release
UPDATE webhook_lane SET lease_until = 0, due_at = $4, sequence = $5
			WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;

-- webhook.remove
DELETE FROM webhook_delivery WHERE company_id = $1 AND id = ANY($2);

-- webhook.replayCount
SELECT count(*) FROM webhook_lane
		WHERE company_id = $1 AND endpoint_id = $2 AND kind = 'replay';

-- webhook.sweep
UPDATE webhook_lane SET due_at = $1 WHERE kind = 'retries' AND due_at = 0 AND lease_until <= $1
		AND EXISTS (SELECT 1 FROM webhook_delivery AS d WHERE d.company_id = webhook_lane.company_id
			AND d.endpoint_id = webhook_lane.endpoint_id AND d.state = 'PENDING');

-- webhook.tails
SELECT company_id, endpoint_id, count(*), min(next_at) FROM webhook_delivery
		WHERE state = 'PENDING' GROUP BY company_id, endpoint_id;

-- webhook.take
UPDATE webhook_lane SET lease_until = $5, fence = fence + 1
				WHERE company_id = $1 AND endpoint_id = $2 AND id = $3 AND lease_until <= $4
				RETURNING company_id, endpoint_id, id, kind, sequence, through, due_at, fence, 0;
