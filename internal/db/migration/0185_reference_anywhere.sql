-- kobo: serves 45
-- +goose Up

-- An operator pastes a reference, and Kobo does not know whose it is. Each index finds it without a look into every company.
-- An operator of many rows may make them beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS operation_anywhere ON operation (id);
CREATE INDEX IF NOT EXISTS settlement_credit_anywhere ON settlement_credit (id);
CREATE INDEX IF NOT EXISTS collection_anywhere ON collection (id);
CREATE INDEX IF NOT EXISTS settlement_adjustment_anywhere ON settlement_adjustment (id);
CREATE INDEX IF NOT EXISTS settlement_transfer_anywhere ON settlement_transfer (id);
CREATE INDEX IF NOT EXISTS customer_transaction_anywhere ON customer_transaction (id);
CREATE INDEX IF NOT EXISTS operation_case_anywhere ON operation_case (id);
CREATE INDEX IF NOT EXISTS payout_bulk_anywhere ON payout_bulk (id);
CREATE INDEX IF NOT EXISTS company_approval_anywhere ON company_approval (id);
CREATE INDEX IF NOT EXISTS card_anywhere ON card (id);
CREATE INDEX IF NOT EXISTS crypto_transaction_anywhere ON crypto_transaction (tx_hash);
CREATE INDEX IF NOT EXISTS operation_key_anywhere ON operation (idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX IF NOT EXISTS idempotency_key_anywhere ON idempotency_key (value) WHERE subject <> '';

-- +goose Down
DROP INDEX idempotency_key_anywhere;
DROP INDEX operation_key_anywhere;
DROP INDEX crypto_transaction_anywhere;
DROP INDEX card_anywhere;
DROP INDEX company_approval_anywhere;
DROP INDEX payout_bulk_anywhere;
DROP INDEX operation_case_anywhere;
DROP INDEX customer_transaction_anywhere;
DROP INDEX settlement_transfer_anywhere;
DROP INDEX settlement_adjustment_anywhere;
DROP INDEX collection_anywhere;
DROP INDEX settlement_credit_anywhere;
DROP INDEX operation_anywhere;
