-- +goose Up

-- The one allocator of settlement account numbers: they are unique in the whole
-- installation, so that another company's number is never one's own.
CREATE TABLE settlement_number (
    name TEXT   NOT NULL,
    last BIGINT NOT NULL CHECK (last > 0),
    PRIMARY KEY (name)
);

-- A company's wallet. What it holds is in the ledger, in the account
-- settlement/<id>.
CREATE TABLE settlement_account (
    company_id TEXT   NOT NULL,
    id         BIGINT NOT NULL,
    name       TEXT   NOT NULL,
    status     TEXT   NOT NULL CHECK (status IN ('ACTIVE', 'INACTIVE')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- A bank account whose credits go into a settlement account. Several may feed
-- one; the first is the one that is shown.
CREATE TABLE settlement_bank_account (
    company_id     TEXT   NOT NULL,
    account_number TEXT   NOT NULL,
    bank_code      TEXT   NOT NULL,
    settlement_id  BIGINT NOT NULL,
    account_name   TEXT   NOT NULL,
    bank_name      TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, account_number, bank_code),
    FOREIGN KEY (company_id, settlement_id) REFERENCES settlement_account (company_id, id)
);

-- Whose a bank account is, for a credit that names only the account.
CREATE TABLE settlement_directory (
    account_number TEXT NOT NULL,
    bank_code      TEXT NOT NULL,
    company_id     TEXT NOT NULL,
    PRIMARY KEY (account_number, bank_code)
);

-- Money that came in, once for each session of the bank's. The house's own rows
-- (settlement 0) are credits for accounts that nobody knows.
CREATE TABLE settlement_credit (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    session_id     TEXT   NOT NULL,
    provider       TEXT   NOT NULL,
    account_number TEXT   NOT NULL,
    settlement_id  BIGINT NOT NULL,
    amount_kobo    BIGINT NOT NULL CHECK (amount_kobo > 0),
    sender_name    TEXT   NOT NULL,
    sender_account TEXT   NOT NULL,
    sender_bank    TEXT   NOT NULL,
    narration      TEXT   NOT NULL,
    reference      TEXT   NOT NULL,
    told_at        BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX settlement_credit_session ON settlement_credit (company_id, provider, session_id);

-- Whose book each of a bank's sessions belongs in, written before it is
-- credited there: the first decision stays, or an account that becomes known
-- later would make one credit into two.
CREATE TABLE settlement_session (
    provider   TEXT NOT NULL,
    session_id TEXT NOT NULL,
    company_id TEXT NOT NULL,
    PRIMARY KEY (provider, session_id)
);

-- A correction of a balance by hand: one operator asks, another approves.
CREATE TABLE settlement_adjustment (
    company_id    TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    settlement_id BIGINT NOT NULL,
    amount_kobo   BIGINT NOT NULL CHECK (amount_kobo > 0),
    direction     TEXT   NOT NULL CHECK (direction IN ('credit', 'debit')),
    reason        TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('PENDING', 'APPROVED')),
    created_by    TEXT   NOT NULL,
    approved_by   TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    approved_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, settlement_id) REFERENCES settlement_account (company_id, id),
    CHECK (created_by <> approved_by)
);

-- +goose Down
DROP TABLE settlement_session;
DROP TABLE settlement_credit;
DROP TABLE settlement_adjustment;
DROP TABLE settlement_directory;
DROP TABLE settlement_bank_account;
DROP TABLE settlement_account;
DROP TABLE settlement_number;
