-- kobo: serves 32
-- +goose Up

-- The bank by its name in the configuration, where an account is opened and where the
-- OTP comes from. Earlier rows are of the one bank that there was.
ALTER TABLE corporate_account ADD COLUMN provider TEXT NOT NULL DEFAULT 'safehaven';
ALTER TABLE customer_account ADD COLUMN provider TEXT NOT NULL DEFAULT 'safehaven';
ALTER TABLE identity_session ADD COLUMN provider TEXT NOT NULL DEFAULT 'safehaven';

-- +goose Down
ALTER TABLE corporate_account DROP COLUMN provider;
ALTER TABLE customer_account DROP COLUMN provider;
ALTER TABLE identity_session DROP COLUMN provider;
