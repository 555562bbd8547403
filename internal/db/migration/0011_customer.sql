-- +goose Up

-- A company's own customer. Customers are numbered 1, 2, 3 … so that a page of
-- their list is a range of numbers.
CREATE TABLE customer (
    company_id    TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    number        BIGINT NOT NULL,
    first_name    TEXT   NOT NULL,
    middle_name   TEXT   NOT NULL,
    last_name     TEXT   NOT NULL,
    email         TEXT   NOT NULL,
    phone_number  TEXT   NOT NULL,
    date_of_birth TEXT   NOT NULL,
    address       TEXT   NOT NULL,
    search        TEXT   NOT NULL,
    status        TEXT   NOT NULL CHECK (status IN ('PENDING_OTP', 'ACTIVE')),
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX customer_number ON customer (company_id, number);

-- Whose an e-mail address is, in lower case. It is taken before the OTP is asked
-- for; the customer comes when the OTP is on its way.
CREATE TABLE customer_email (
    company_id  TEXT   NOT NULL,
    email       TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, email)
);

-- The one dedicated account of a customer, written down before the bank is asked
-- to open it. The turn is the call that is at work on it, or was the last.
CREATE TABLE customer_account (
    company_id     TEXT   NOT NULL,
    customer_id    TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('PENDING', 'OPEN', 'FAILED')),
    turn           TEXT   NOT NULL,
    called_until   BIGINT NOT NULL,
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

CREATE UNIQUE INDEX customer_account_number ON customer_account (company_id, account_number) WHERE account_number <> '';

-- Money that came into a customer's account, numbered 1, 2, 3 … for each company.
CREATE TABLE customer_transaction (
    company_id    TEXT   NOT NULL,
    number        BIGINT NOT NULL,
    id            TEXT   NOT NULL,
    customer_id   TEXT   NOT NULL,
    settlement_id BIGINT NOT NULL,
    amount_kobo   BIGINT NOT NULL CHECK (amount_kobo > 0),
    kind          TEXT   NOT NULL CHECK (kind IN ('CREDIT')),
    status        TEXT   NOT NULL CHECK (status IN ('SUCCESS')),
    narration     TEXT   NOT NULL,
    session_id    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, number)
);

CREATE UNIQUE INDEX customer_transaction_id ON customer_transaction (company_id, id);

CREATE INDEX customer_transaction_customer ON customer_transaction (company_id, customer_id, number);

-- +goose Down
DROP TABLE customer_transaction;
DROP TABLE customer_account;
DROP TABLE customer_email;
DROP TABLE customer;
