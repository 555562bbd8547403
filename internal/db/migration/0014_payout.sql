-- +goose Up

-- The banks that can be paid, as the bank that pays for us lists them. Not a
-- company's data, so no company_id.
CREATE TABLE payout_bank (
    provider   TEXT   NOT NULL,
    code       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    active     BIGINT NOT NULL CHECK (active IN (0, 1)),
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (provider, code)
);

-- When a bank's list was last taken over.
CREATE TABLE payout_sync (
    provider TEXT   NOT NULL,
    due_at   BIGINT NOT NULL,
    PRIMARY KEY (provider)
);

-- Whose an account is, as a bank said it: what a payout is made from. Its id is
-- the verify_id, and for the payout that uses it the reference.
CREATE TABLE payout_verification (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    settlement_id  BIGINT NOT NULL,
    provider       TEXT   NOT NULL,
    bank_code      TEXT   NOT NULL,
    bank_name      TEXT   NOT NULL,
    account_number TEXT   NOT NULL,
    account_name   TEXT   NOT NULL,
    session        TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- What was paid out, beside the operation of the same id, which has its money
-- and its state, and the verification of the same id, which says to whom.
CREATE TABLE payout (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    narration  TEXT   NOT NULL,
    session    TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, id) REFERENCES payout_verification (company_id, id)
);

-- Whose a payout is, for a bank that names only its reference.
CREATE INDEX payout_reference ON payout (id);

-- What a company is charged for a payout, in bands by the amount paid. A new
-- schedule is a new version; what was in force on any day stays readable.
CREATE TABLE payout_fee (
    company_id   TEXT   NOT NULL,
    version      TEXT   NOT NULL,
    from_kobo    BIGINT NOT NULL CHECK (from_kobo >= 0),
    flat_kobo    BIGINT NOT NULL CHECK (flat_kobo >= 0),
    basis_points BIGINT NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
    cap_kobo     BIGINT NOT NULL CHECK (cap_kobo >= 0),
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, version, from_kobo)
);

-- How much may be paid out on one day: of the whole company (settlement_id 0),
-- or of one settlement account. 0 is no limit. The latest version counts.
CREATE TABLE payout_limit (
    company_id    TEXT   NOT NULL,
    settlement_id BIGINT NOT NULL,
    version       TEXT   NOT NULL,
    amount_kobo   BIGINT NOT NULL CHECK (amount_kobo >= 0),
    payouts       BIGINT NOT NULL CHECK (payouts >= 0),
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, settlement_id, version)
);

-- +goose Down
DROP TABLE payout_limit;
DROP TABLE payout_fee;
DROP TABLE payout;
DROP TABLE payout_verification;
DROP TABLE payout_sync;
DROP TABLE payout_bank;
