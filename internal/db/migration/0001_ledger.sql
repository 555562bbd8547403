-- +goose Up

-- One row a company: the only lock money is changed under, and the number of
-- the company's last event.
CREATE TABLE ledger_head (
    company_id     TEXT   NOT NULL,
    event_sequence BIGINT NOT NULL CHECK (event_sequence >= 0),
    PRIMARY KEY (company_id)
);

-- The last number of each of a company's dense sequences, other than the
-- events', and its running sums. Written in the commit that changes it.
CREATE TABLE ledger_counter (
    company_id TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    value      BIGINT NOT NULL CHECK (value >= 0),
    PRIMARY KEY (company_id, name)
);

-- A line of the book. The balance is credits less debits, and the entries
-- rebuild it.
CREATE TABLE ledger_account (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    floor_kobo     BIGINT NOT NULL,
    balance_kobo   BIGINT NOT NULL,
    entry_sequence BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (balance_kobo >= floor_kobo)
);

-- One immutable debit and credit of one amount, and the numbers of its two
-- entries in their accounts.
CREATE TABLE ledger_transfer (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    debit_account  TEXT   NOT NULL,
    credit_account TEXT   NOT NULL,
    amount_kobo    BIGINT NOT NULL CHECK (amount_kobo > 0),
    kind           TEXT   NOT NULL,
    reference      TEXT   NOT NULL,
    narration      TEXT   NOT NULL,
    debit_entry    BIGINT NOT NULL,
    credit_entry   BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (debit_account <> credit_account)
);

-- What became of the money of one reference.
CREATE INDEX ledger_transfer_reference ON ledger_transfer (company_id, reference);

-- One side of a transfer, in the order in which the account saw it.
CREATE TABLE ledger_entry (
    company_id    TEXT   NOT NULL,
    account_id    TEXT   NOT NULL,
    sequence      BIGINT NOT NULL,
    transfer_id   TEXT   NOT NULL,
    amount_kobo   BIGINT NOT NULL,
    previous_kobo BIGINT NOT NULL,
    current_kobo  BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, account_id, sequence),
    CHECK (current_kobo = previous_kobo + amount_kobo)
);

-- +goose Down
DROP TABLE ledger_entry;
DROP TABLE ledger_transfer;
DROP TABLE ledger_account;
DROP TABLE ledger_counter;
DROP TABLE ledger_head;
