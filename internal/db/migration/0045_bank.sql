-- kobo: serves 32
-- +goose Up

-- The bank by its name in the configuration, where an account is opened and where the
-- OTP comes from. Earlier rows are of the one bank that there was.
ALTER TABLE corporate_account ADD COLUMN provider TEXT NOT NULL DEFAULT 'safehaven';
ALTER TABLE customer_account ADD COLUMN provider TEXT NOT NULL DEFAULT 'safehaven';
ALTER TABLE identity_session ADD COLUMN provider TEXT NOT NULL DEFAULT 'safehaven';

-- The name of each account at a bank. A mark is a hash of the account's number or of the
-- client's id. An account that gets another name would have its credits recorded twice.
CREATE TABLE inbox_bank (
    company_id TEXT NOT NULL, -- the house
    mark       TEXT NOT NULL,
    provider   TEXT NOT NULL,
    PRIMARY KEY (company_id, mark)
);

-- +goose Down
DROP TABLE inbox_bank;
ALTER TABLE corporate_account DROP COLUMN provider;
ALTER TABLE customer_account DROP COLUMN provider;
ALTER TABLE identity_session DROP COLUMN provider;
