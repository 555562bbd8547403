-- kobo: serves 45
-- +goose Up

-- Operators list the payments of all companies, newest first. These indexes begin with the time and not with the
-- company. Companies never read by them. An operator of a large book may make them beforehand, without a lock
-- (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS operation_newest ON operation (created_at, id);
CREATE INDEX IF NOT EXISTS settlement_credit_newest ON settlement_credit (created_at, id);
CREATE INDEX IF NOT EXISTS settlement_adjustment_newest ON settlement_adjustment (created_at, id);
CREATE INDEX IF NOT EXISTS settlement_transfer_newest ON settlement_transfer (created_at, id);

-- The same of one company, where no index has it yet.
CREATE INDEX IF NOT EXISTS settlement_credit_list ON settlement_credit (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS card_funding_list ON card_funding (company_id, created_at, id);

-- +goose Down
DROP INDEX card_funding_list;
DROP INDEX settlement_credit_list;
DROP INDEX settlement_transfer_newest;
DROP INDEX settlement_adjustment_newest;
DROP INDEX settlement_credit_newest;
DROP INDEX operation_newest;
