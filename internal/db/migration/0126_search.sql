-- kobo: serves 45
-- +goose Up

-- Operators look for these values over all companies (report/search.go). The rows are their own directory: a commit that
-- writes or strikes a name changes what is found by it. An operator of many rows may make the indexes beforehand, without a
-- lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS customer_phone ON customer (phone_number);
CREATE INDEX IF NOT EXISTS customer_search ON customer (search);
CREATE INDEX IF NOT EXISTS customer_last_name ON customer (last_name);
CREATE INDEX IF NOT EXISTS customer_email_address ON customer_email (email);
CREATE INDEX IF NOT EXISTS customer_account_search ON customer_account (account_number) WHERE account_number <> '';
CREATE INDEX IF NOT EXISTS collection_search ON collection (account_number) WHERE account_number <> '';
CREATE INDEX IF NOT EXISTS collection_own ON collection (external_reference);
CREATE INDEX IF NOT EXISTS operation_label_own ON operation_label (external_reference) WHERE external_reference <> '';
CREATE INDEX IF NOT EXISTS operation_provider_reference ON operation (provider_reference) WHERE provider_reference <> '';
CREATE INDEX IF NOT EXISTS payout_verification_search ON payout_verification (account_number, created_at);
CREATE INDEX IF NOT EXISTS vtu_purchase_phone ON vtu_purchase (phone_number, created_at) WHERE phone_number <> '';
CREATE INDEX IF NOT EXISTS vtu_purchase_meter ON vtu_purchase (meter_number, created_at) WHERE meter_number <> '';
CREATE INDEX IF NOT EXISTS vtu_purchase_smartcard ON vtu_purchase (card_number, created_at) WHERE card_number <> '';
CREATE INDEX IF NOT EXISTS crypto_directory_address ON crypto_directory (address);

-- +goose Down
DROP INDEX crypto_directory_address;
DROP INDEX vtu_purchase_smartcard;
DROP INDEX vtu_purchase_meter;
DROP INDEX vtu_purchase_phone;
DROP INDEX payout_verification_search;
DROP INDEX operation_provider_reference;
DROP INDEX operation_label_own;
DROP INDEX collection_own;
DROP INDEX collection_search;
DROP INDEX customer_account_search;
DROP INDEX customer_email_address;
DROP INDEX customer_last_name;
DROP INDEX customer_search;
DROP INDEX customer_phone;
