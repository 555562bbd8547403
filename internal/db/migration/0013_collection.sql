-- +goose Up

-- One payment that a company waits for, and the virtual account that was opened
-- for it. OPENING is before the bank has answered: nobody has been told of an
-- account yet, and the same request may try again.
CREATE TABLE collection (
    company_id         TEXT   NOT NULL,
    id                 TEXT   NOT NULL,
    external_reference TEXT   NOT NULL,
    request            TEXT   NOT NULL,
    state              TEXT   NOT NULL CHECK (state IN ('OPENING', 'PENDING', 'SUCCESS', 'FAILED')),
    provider           TEXT   NOT NULL,
    reference          TEXT   NOT NULL,
    settlement_id      BIGINT NOT NULL,
    amount_kobo        BIGINT NOT NULL CHECK (amount_kobo > 0),
    amount_control     TEXT   NOT NULL CHECK (amount_control IN ('Fixed', 'UnderPayment', 'OverPayment')),
    account_number     TEXT   NOT NULL,
    account_name       TEXT   NOT NULL,
    bank_name          TEXT   NOT NULL,
    bank_code          TEXT   NOT NULL,
    credit_id          TEXT   NOT NULL,
    called_until       BIGINT NOT NULL,
    expires_at         BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX collection_external ON collection (company_id, external_reference);

-- Which collection a credit is for: by our reference, or the newest one of the
-- account (a bank may give a number out again).
CREATE INDEX collection_reference ON collection (company_id, reference);
CREATE INDEX collection_account ON collection (company_id, account_number, id);

-- +goose Down
DROP TABLE collection;
