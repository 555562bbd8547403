-- kobo: serves 45
-- +goose Up

-- Evidence: each transfer, event and audit line of a company has a number, 1, 2, 3 … without a
-- gap over the three tables, and a MAC that only a holder of the evidence key can make. A row
-- that a program of an earlier schema wrote has 0 and '' until kobo adopt numbers and signs it.
ALTER TABLE ledger_transfer ADD COLUMN leaf BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledger_transfer ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN leaf BIGINT NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN mac TEXT NOT NULL DEFAULT '';
ALTER TABLE operator_audit ADD COLUMN leaf BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operator_audit ADD COLUMN mac TEXT NOT NULL DEFAULT '';

-- The last such number of the company. The audit lines of no company are numbered by the
-- counter 'leaf' of the company ''.
ALTER TABLE ledger_head ADD COLUMN leaf BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE ledger_head DROP COLUMN leaf;
ALTER TABLE operator_audit DROP COLUMN mac;
ALTER TABLE operator_audit DROP COLUMN leaf;
ALTER TABLE event DROP COLUMN mac;
ALTER TABLE event DROP COLUMN leaf;
ALTER TABLE ledger_transfer DROP COLUMN mac;
ALTER TABLE ledger_transfer DROP COLUMN leaf;
