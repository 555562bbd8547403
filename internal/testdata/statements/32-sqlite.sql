INSERT INTO card (company_id, id, customer_id, state, provider, provider_card_id, account, kind, brand, currency, masked_pan, expiry_month, expiry_year, status, message, load_kobo, called_until, missing, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20);

INSERT INTO card_activity (company_id, id, card_id, word, amount_kobo, happened_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO card_address (company_id, version, line1, line2, city, state, country, postal_code, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

INSERT INTO card_funding (company_id, id, card_id, amount_kobo, state, created_at) VALUES ($1, $2, $3, $4, $5, $6);

INSERT INTO card_holder (company_id, customer_id, state, provider, provider_id, card_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO collection (company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo, amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19);

INSERT INTO company (company_id, name, kyb_status, live, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6);

INSERT INTO company_api_key (company_id, id, hash, state, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6);

INSERT INTO company_pin (company_id, hash, state, failures, updated_at) VALUES ($1, $2, $3, $4, $5);

INSERT INTO corporate_account (company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address, rn_number, settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20);

INSERT INTO corporate_kyc (company_id, id, session_id, reference, status, created_at) VALUES ($1, $2, $3, $4, $5, $6);

INSERT INTO crypto_address (company_id, key_id, address_index, network_id, address, label, state, custody, reference, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

INSERT INTO crypto_key (company_id, id, kind, version, xpub, source, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO crypto_transaction (company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash, block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22);

INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number, date_of_birth, address, search, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

INSERT INTO customer_account (company_id, customer_id, state, turn, called_until, reference, missing, settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

INSERT INTO customer_email (company_id, email, customer_id, created_at) VALUES ($1, $2, $3, $4);

INSERT INTO customer_transaction (company_id, number, id, customer_id, settlement_id, amount_kobo, kind, status, narration, session_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

INSERT INTO event (company_id, sequence, id, kind, data, created_at) VALUES ($1, $2, $3, $4, $5, $6);

INSERT INTO idempotency_key (company_id, value, fingerprint, state, subject, running_until, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

INSERT INTO identity_session (company_id, id, purpose, subject, bvn, state, turn, attempts, reference, asked_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

INSERT INTO inbox_notification (company_id, id, provider, body, state, detail, received_at, worked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING;

INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING;

INSERT INTO job (company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING;

INSERT INTO ledger_account (company_id, id, floor_kobo, alert_kobo, balance_kobo, entry_sequence, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO ledger_counter (company_id, name, value) VALUES ($1, $2, $3);

INSERT INTO ledger_entry (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

INSERT INTO ledger_entry (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9), ($10, $11, $12, $13, $14, $15, $16, $17, $18), ($19, $20, $21, $22, $23, $24, $25, $26, $27), ($28, $29, $30, $31, $32, $33, $34, $35, $36), ($37, $38, $39, $40, $41, $42, $43, $44, $45), ($46, $47, $48, $49, $50, $51, $52, $53, $54), ($55, $56, $57, $58, $59, $60, $61, $62, $63), ($64, $65, $66, $67, $68, $69, $70, $71, $72), ($73, $74, $75, $76, $77, $78, $79, $80, $81), ($82, $83, $84, $85, $86, $87, $88, $89, $90), ($91, $92, $93, $94, $95, $96, $97, $98, $99), ($100, $101, $102, $103, $104, $105, $106, $107, $108), ($109, $110, $111, $112, $113, $114, $115, $116, $117), ($118, $119, $120, $121, $122, $123, $124, $125, $126), ($127, $128, $129, $130, $131, $132, $133, $134, $135), ($136, $137, $138, $139, $140, $141, $142, $143, $144);

INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ($1, $2, $3);

INSERT INTO ledger_transfer (company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry, credit_entry, stamp, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

INSERT INTO operation (company_id, id, kind, idempotency_key, state, provider, settlement_id, amount_kobo, fee_kobo, called_until, polls, missing, asked_at, next_at, outcome, code, message, provider_reference, token, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21);

INSERT INTO operation_answer (company_id, id, operation_id, poll, outcome, code, message, reference, answered_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18);

INSERT INTO operator_audit (company_id, id, operator, action, subject, details, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO payout (company_id, id, narration, session, created_at) VALUES ($1, $2, $3, $4, $5);

INSERT INTO payout_fee (company_id, version, from_kobo, flat_kobo, basis_points, cap_kobo, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO payout_limit (company_id, settlement_id, version, amount_kobo, payouts, created_at) VALUES ($1, $2, $3, $4, $5, $6);

INSERT INTO payout_verification (company_id, id, settlement_id, provider, bank_code, bank_name, account_number, account_name, session, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

INSERT INTO settlement_account (company_id, id, name, status, created_at) VALUES ($1, $2, $3, $4, $5);

INSERT INTO settlement_adjustment (company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note, created_at, decided_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

INSERT INTO settlement_bank_account (company_id, account_number, bank_code, settlement_id, account_name, bank_name, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

INSERT INTO settlement_credit (company_id, id, session_id, provider, account_number, settlement_id, amount_kobo, sender_name, sender_account, sender_bank, narration, reference, told_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

INSERT INTO vtu_purchase (company_id, id, kind, category_id, product_id, product_name, phone_number, card_number, meter_number, verification_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

INSERT INTO vtu_verification (company_id, id, category_id, kind, entity_number, customer_name, address, current_package, due_date, vend_type, renewal_kobo, least_kobo, most_kobo, state, purchase_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

INSERT INTO webhook_delivery (company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms, excerpt, trouble, next_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

INSERT INTO webhook_endpoint (company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures, failed_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

INSERT INTO webhook_lane (company_id, endpoint_id, id, kind, sequence, through, due_at, lease_until, fence) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

SELECT company_id, account_number, bank_code, company_id, account_number, bank_code, settlement_id, account_name, bank_name, created_at FROM settlement_bank_account WHERE company_id = $1 AND account_number = $2 AND bank_code = $3 AND bank_code <> '';

SELECT company_id, company_id, hash, state, failures, updated_at FROM company_pin WHERE company_id = $1 AND company_id <> '';

SELECT company_id, company_id, name, kyb_status, live, created_at, updated_at FROM company WHERE company_id = $1 AND company_id <> '';

SELECT company_id, customer_id, company_id, customer_id, state, provider, provider_id, card_id, created_at FROM card_holder WHERE company_id = $1 AND customer_id = $2 AND customer_id <> '';

SELECT company_id, customer_id, company_id, customer_id, state, turn, called_until, reference, missing, settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at FROM customer_account WHERE company_id = $1 AND customer_id = $2 AND customer_id <> '';

SELECT company_id, customer_id, state FROM card_holder WHERE company_id = $1 AND customer_id = $2;

SELECT company_id, customer_id, turn FROM customer_account WHERE company_id = $1 AND customer_id = $2;

SELECT company_id, email, company_id, email, customer_id, created_at FROM customer_email WHERE company_id = $1 AND email = $2 AND email <> '';

SELECT company_id, endpoint_id, id, fence, due_at FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;

SELECT company_id, event_sequence, dated_at FROM ledger_head WHERE company_id = $1;

SELECT company_id, external_reference, company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo, amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at FROM collection WHERE company_id = $1 AND external_reference = $2 AND external_reference <> '';

SELECT company_id, id, company_id, id, card_id, word, amount_kobo, happened_at, created_at FROM card_activity WHERE company_id = $1 AND id = $2 AND id <> '';

SELECT company_id, id, company_id, id, category_id, kind, entity_number, customer_name, address, current_package, due_date, vend_type, renewal_kobo, least_kobo, most_kobo, state, purchase_id, created_at FROM vtu_verification WHERE company_id = $1 AND id = $2 AND id <> '';

SELECT company_id, id, company_id, id, hash, state, created_at, expires_at FROM company_api_key WHERE company_id = $1 AND id = $2 AND id <> '';

SELECT company_id, id, company_id, id, kind, version, xpub, source, created_at FROM crypto_key WHERE company_id = $1 AND id = $2 AND id <> '';

SELECT company_id, id, company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note, created_at, decided_at FROM settlement_adjustment WHERE company_id = $1 AND id = $2 AND id <> '';

SELECT company_id, id, failures, failed_at FROM webhook_endpoint WHERE company_id = $1 AND id = $2;

SELECT company_id, id, floor_kobo, alert_kobo, balance_kobo, entry_sequence FROM ledger_account WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM card WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM card_funding WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM collection WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM company_api_key WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM crypto_transaction WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM operation WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM settlement_adjustment WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM vtu_verification WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state FROM webhook_endpoint WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state, outcome, target_company, target_settlement, proposed_by FROM operation_case WHERE company_id = $1 AND id = $2;

SELECT company_id, id, state, url, description, kinds, secret FROM webhook_endpoint WHERE company_id = $1 AND id = $2;

SELECT company_id, id, status FROM customer WHERE company_id = $1 AND id = $2;

SELECT company_id, id, status FROM settlement_account WHERE company_id = $1 AND id = $2;

SELECT company_id, id, turn FROM corporate_account WHERE company_id = $1 AND id = $2;

SELECT company_id, id, turn FROM identity_session WHERE company_id = $1 AND id = $2;

SELECT company_id, key_id, address_index, company_id, key_id, address_index, network_id, address, label, state, custody, reference, created_at, updated_at FROM crypto_address WHERE company_id = $1 AND key_id = $2 AND address_index = $3;

SELECT company_id, key_id, address_index, state FROM crypto_address WHERE company_id = $1 AND key_id = $2 AND address_index = $3;

SELECT company_id, kind, idempotency_key, company_id, id, kind, idempotency_key, state, provider, settlement_id, amount_kobo, fee_kobo, called_until, polls, missing, asked_at, next_at, outcome, code, message, provider_reference, token, created_at, updated_at FROM operation WHERE company_id = $1 AND kind = $2 AND idempotency_key = $3 AND idempotency_key <> '';

SELECT company_id, kyb_status FROM company WHERE company_id = $1;

SELECT company_id, name, value FROM ledger_counter WHERE company_id = $1 AND name = $2;

SELECT company_id, pending, company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address, rn_number, settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at FROM corporate_account WHERE company_id = $1 AND pending = $2 AND pending <> '';

SELECT company_id, provider, session_id, company_id, id, session_id, provider, account_number, settlement_id, amount_kobo, sender_name, sender_account, sender_bank, narration, reference, told_at, created_at FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3 AND session_id <> '';

SELECT company_id, purpose, subject, company_id, id, purpose, subject, bvn, state, turn, attempts, reference, asked_at, created_at, updated_at FROM identity_session WHERE company_id = $1 AND purpose = $2 AND subject = $3 AND subject <> '';

SELECT company_id, seen, attempt, company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash, block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at FROM crypto_transaction WHERE company_id = $1 AND seen = $2 AND attempt = $3;

SELECT company_id, session_id, company_id, id, session_id, reference, status, created_at FROM corporate_kyc WHERE company_id = $1 AND session_id = $2 AND session_id <> '';

SELECT company_id, state FROM company_pin WHERE company_id = $1;

SELECT company_id, subject, reason, turn, company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at FROM operation_case WHERE company_id = $1 AND subject = $2 AND reason = $3 AND turn = $4;

SELECT company_id, value, company_id, value, fingerprint, state, subject, running_until, status, body, created_at FROM idempotency_key WHERE company_id = $1 AND value = $2 AND value <> '';

SELECT company_id, value, state FROM idempotency_key WHERE company_id = $1 AND value = $2;

UPDATE card SET state = $3, provider_card_id = $4, account = $5, kind = $6, brand = $7, currency = $8, masked_pan = $9, expiry_month = $10, expiry_year = $11, status = $12, message = $13, missing = $14, updated_at = $15 WHERE company_id = $1 AND id = $2;

UPDATE card_funding SET state = $3 WHERE company_id = $1 AND id = $2;

UPDATE card_holder SET state = $3, card_id = $4 WHERE company_id = $1 AND customer_id = $2;

UPDATE card_holder SET state = $3, card_id = $4, provider_id = $5 WHERE company_id = $1 AND customer_id = $2;

UPDATE collection SET state = $3, reference = $4, account_number = $5, account_name = $6, bank_name = $7, bank_code = $8, credit_id = $9, called_until = $10, expires_at = $11, updated_at = $12 WHERE company_id = $1 AND id = $2;

UPDATE company SET kyb_status = $2, live = $3, updated_at = $4 WHERE company_id = $1;

UPDATE company SET kyb_status = $2, updated_at = $3 WHERE company_id = $1;

UPDATE company_api_key SET state = $3 WHERE company_id = $1 AND id = $2;

UPDATE company_pin SET state = $2, hash = $3, failures = $4, updated_at = $5 WHERE company_id = $1;

UPDATE corporate_account SET turn = $3, kyc_id = $4, pending = $5, state = $6, called_until = $7, missing = $8, phone_number = $9, email_address = $10, rn_number = $11, settlement_id = $12, account_number = $13, account_name = $14, bank_name = $15, bank_code = $16, provider_id = $17, message = $18, created_at = $19, updated_at = $20 WHERE company_id = $1 AND id = $2;

UPDATE crypto_address SET state = $4, reference = $5, updated_at = $6 WHERE company_id = $1 AND key_id = $2 AND address_index = $3;

UPDATE crypto_transaction SET state = $3, block_number = $4, block_hash = $5, raw = $6, misses = $7, lost_at = $8, updated_at = $9 WHERE company_id = $1 AND id = $2;

UPDATE crypto_transaction SET state = $3, block_number = $4, block_hash = $5, updated_at = $6 WHERE company_id = $1 AND id = $2;

UPDATE crypto_transaction SET state = $3, misses = $4, updated_at = $5 WHERE company_id = $1 AND id = $2;

UPDATE crypto_transaction SET state = $3, updated_at = $4 WHERE company_id = $1 AND id = $2;

UPDATE customer SET status = $3, updated_at = $4 WHERE company_id = $1 AND id = $2;

UPDATE customer_account SET turn = $3, state = $4, called_until = $5, reference = $6, missing = $7, settlement_id = $8, account_number = $9, account_name = $10, bank_name = $11, bank_code = $12, provider_id = $13, message = $14, created_at = $15, updated_at = $16 WHERE company_id = $1 AND customer_id = $2;

UPDATE idempotency_key SET state = $3, status = $4, body = $5 WHERE company_id = $1 AND value = $2;

UPDATE identity_session SET turn = $3, subject = $4, bvn = $5, state = $6, attempts = $7, reference = $8, asked_at = $9, updated_at = $10 WHERE company_id = $1 AND id = $2;

UPDATE ledger_account SET alert_kobo = $3, balance_kobo = $4, entry_sequence = $5 WHERE company_id = $1 AND id = $2;

UPDATE ledger_counter SET value = $3 WHERE company_id = $1 AND name = $2;

UPDATE ledger_head SET event_sequence = $2, dated_at = $3 WHERE company_id = $1;

UPDATE operation SET state = $3, called_until = $4, polls = $5, missing = $6, asked_at = $7, next_at = $8, outcome = $9, code = $10, message = $11, provider_reference = $12, token = $13, updated_at = $14 WHERE company_id = $1 AND id = $2;

UPDATE operation_case SET state = $3, outcome = $4, target_company = $5, target_settlement = $6, proposed_by = $7, note = $8, proposed_at = $9, resolved_by = $10, updated_at = $11 WHERE company_id = $1 AND id = $2;

UPDATE settlement_account SET status = $3 WHERE company_id = $1 AND id = $2;

UPDATE settlement_adjustment SET state = $3, decided_by = $4, note = $5, decided_at = $6 WHERE company_id = $1 AND id = $2;

UPDATE vtu_verification SET state = $3, purchase_id = $4 WHERE company_id = $1 AND id = $2;

UPDATE webhook_delivery SET endpoint_id = $3, event_id = $4, kind = $5, sequence = $6, state = $7, attempts = $8, status = $9, latency_ms = $10, excerpt = $11, trouble = $12, next_at = $13, created_at = $14, updated_at = $15 WHERE company_id = $1 AND id = $2;

UPDATE webhook_endpoint SET failures = $3, failed_at = $4 WHERE company_id = $1 AND id = $2;

UPDATE webhook_endpoint SET state = $3 WHERE company_id = $1 AND id = $2;

UPDATE webhook_endpoint SET state = $3, secret = $4, old_secret = $5, old_until = $6, updated_at = $7 WHERE company_id = $1 AND id = $2;

UPDATE webhook_endpoint SET state = $3, updated_at = $4 WHERE company_id = $1 AND id = $2;

UPDATE webhook_endpoint SET state = $3, url = $4, description = $5, kinds = $6, updated_at = $7 WHERE company_id = $1 AND id = $2;

UPDATE webhook_lane SET due_at = $4 WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;

UPDATE webhook_lane SET sequence = $4, lease_until = $5 WHERE company_id = $1 AND endpoint_id = $2 AND id = $3;
