-- kobo: serves 32
-- +goose Up

-- Transactions of a period are found by when they were credited. An operator of a
-- large book may make the index beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS customer_transaction_created ON customer_transaction (company_id, created_at);

-- +goose Down
DROP INDEX customer_transaction_created;
