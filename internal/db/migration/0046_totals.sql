-- kobo: serves 32
-- +goose Up

-- The settlement account that paid, so that a filtered list counts purchases by one index
-- and without their operations. 0 in rows of earlier schemas: the operation has it there.
ALTER TABLE vtu_purchase ADD COLUMN settlement_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX vtu_purchase_list ON vtu_purchase (company_id, created_at, id, kind, settlement_id);
DROP INDEX vtu_purchase_newest;

-- The credits of settlement accounts, with the refunds of failed operations among them. An
-- operator of a large book may make the index beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS ledger_entry_credit ON ledger_entry (company_id, account_id, sequence, step, reference)
    WHERE amount_kobo > 0 AND substr(account_id, 1, 11) = 'settlement/';

-- +goose Down
DROP INDEX ledger_entry_credit;
DROP INDEX vtu_purchase_list;
CREATE INDEX vtu_purchase_newest ON vtu_purchase (company_id, created_at, id);
ALTER TABLE vtu_purchase DROP COLUMN settlement_id;
