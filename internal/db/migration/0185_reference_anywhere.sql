-- kobo: serves 45
-- +goose Up

-- An operator pastes a reference, and Kobo does not know whose it is. Each index finds it without a look into every company.
-- payout has one since 0014. An operator of many rows may make them beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS vtu_purchase_anywhere ON vtu_purchase (id);
CREATE INDEX IF NOT EXISTS card_funding_anywhere ON card_funding (id);
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

-- The sum of a provider's accounts. The balance is not in the index, so a change of it writes no index.
CREATE INDEX IF NOT EXISTS ledger_account_anywhere ON ledger_account (id);

-- +goose Down
DROP INDEX ledger_account_anywhere;
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
DROP INDEX card_funding_anywhere;
DROP INDEX vtu_purchase_anywhere;
