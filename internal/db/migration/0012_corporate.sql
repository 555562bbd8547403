-- +goose Up

-- A signatory whose identity has been proven. Its id is not the session's.
CREATE TABLE corporate_kyc (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    session_id TEXT   NOT NULL,
    reference  TEXT   NOT NULL,
    status     TEXT   NOT NULL CHECK (status IN ('VERIFIED')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX corporate_kyc_session ON corporate_kyc (company_id, session_id);

-- One attempt to open a corporate account, written down before the bank is
-- asked. "Pending" is the registration number while its account is being opened,
-- and the turn is the call that is at work on it, or was the last.
CREATE TABLE corporate_account (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    kyc_id         TEXT   NOT NULL,
    pending        TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('PENDING', 'ACTIVE', 'DUPLICATE', 'FAILED')),
    turn           TEXT   NOT NULL,
    called_until   BIGINT NOT NULL,
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

CREATE UNIQUE INDEX corporate_account_pending ON corporate_account (company_id, pending) WHERE pending <> '';

CREATE UNIQUE INDEX corporate_account_number ON corporate_account (company_id, account_number) WHERE state = 'ACTIVE';

-- +goose Down
DROP TABLE corporate_account;
DROP TABLE corporate_kyc;
