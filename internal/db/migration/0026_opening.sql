-- +goose Up
LOCK TABLE customer_account, corporate_account IN ACCESS EXCLUSIVE MODE;

-- Missing is how often an account that may have been opened was not on the bank's
-- list since the bank was last asked to open it.
CREATE TABLE customer_account_next (
    company_id     TEXT   NOT NULL,
    customer_id    TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('PENDING', 'OPEN', 'FAILED')),
    turn           TEXT   NOT NULL,
    called_until   BIGINT NOT NULL,
    missing        BIGINT NOT NULL CHECK (missing >= 0),
    reference      TEXT   NOT NULL,
    settlement_id  BIGINT NOT NULL,
    account_number TEXT   NOT NULL,
    account_name   TEXT   NOT NULL,
    bank_name      TEXT   NOT NULL,
    bank_code      TEXT   NOT NULL,
    provider_id    TEXT   NOT NULL,
    message        TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id)
);

INSERT INTO customer_account_next (company_id, customer_id, state, turn, called_until, missing, reference, settlement_id,
    account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at)
SELECT company_id, customer_id, state, turn, called_until, 0, reference, settlement_id, account_number,
    account_name, bank_name, bank_code, provider_id, message, created_at, updated_at
FROM customer_account;

DROP TABLE customer_account;
ALTER TABLE customer_account_next RENAME TO customer_account;
CREATE UNIQUE INDEX customer_account_number ON customer_account (company_id, account_number) WHERE account_number <> '';

CREATE TABLE corporate_account_next (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    kyc_id         TEXT   NOT NULL,
    pending        TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('PENDING', 'ACTIVE', 'DUPLICATE', 'FAILED')),
    turn           TEXT   NOT NULL,
    called_until   BIGINT NOT NULL,
    missing        BIGINT NOT NULL CHECK (missing >= 0),
    phone_number   TEXT   NOT NULL,
    email_address  TEXT   NOT NULL,
    rn_number      TEXT   NOT NULL,
    settlement_id  BIGINT NOT NULL,
    account_number TEXT   NOT NULL,
    account_name   TEXT   NOT NULL,
    bank_name      TEXT   NOT NULL,
    bank_code      TEXT   NOT NULL,
    provider_id    TEXT   NOT NULL,
    message        TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

INSERT INTO corporate_account_next (company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address,
    rn_number, settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message,
    created_at, updated_at)
SELECT company_id, id, kyc_id, pending, state, turn, called_until, 0, phone_number, email_address,
    rn_number, settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message,
    created_at, updated_at
FROM corporate_account;

DROP TABLE corporate_account;
ALTER TABLE corporate_account_next RENAME TO corporate_account;
CREATE UNIQUE INDEX corporate_account_pending ON corporate_account (company_id, pending) WHERE pending <> '';
CREATE UNIQUE INDEX corporate_account_number ON corporate_account (company_id, account_number) WHERE state = 'ACTIVE';

-- +goose Down
ALTER TABLE corporate_account DROP COLUMN missing;
ALTER TABLE customer_account DROP COLUMN missing;
