-- kobo: serves 45
-- +goose Up

-- Rights: the MAC of a row covers its key and the columns that give a right, so that nobody without
-- the evidence key can change them unseen. A row that a program of an earlier schema wrote has ''
-- until kobo adopt signs it.
ALTER TABLE company ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE company_api_key ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE company_pin ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE company_token ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE operator_key ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE ledger_account ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE ledger_counter ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE idempotency_key ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE operation_case ADD COLUMN mac TEXT NOT NULL DEFAULT '';

-- The sum of all these MACs of the company, with a MAC of the sum. It shows a deleted row, and an
-- earlier row that was put back with its earlier MAC.
ALTER TABLE ledger_head ADD COLUMN rights TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE ledger_head DROP COLUMN rights;
ALTER TABLE operation_case DROP COLUMN mac;
ALTER TABLE idempotency_key DROP COLUMN mac;
ALTER TABLE ledger_counter DROP COLUMN mac;
ALTER TABLE ledger_account DROP COLUMN mac;
ALTER TABLE operator_key DROP COLUMN mac;
ALTER TABLE company_token DROP COLUMN mac;
ALTER TABLE company_pin DROP COLUMN mac;
ALTER TABLE company_api_key DROP COLUMN mac;
ALTER TABLE company DROP COLUMN mac;
