-- kobo: serves 32
-- +goose Up

-- How far a company's ledger is verified, so that a check reads only what is new.
-- verified_sequence is the last event, places the last entry of each account as
-- JSON, credit_id the last credit. A walk reads all rows again, in steps: walk is
-- its state as JSON, and due_at is when the next walk begins. walked_at is when
-- the last finished walk began, and wrongs are its findings as a JSON list.
CREATE TABLE report_progress (
    company_id        TEXT   NOT NULL,
    verified_sequence BIGINT NOT NULL CHECK (verified_sequence >= 0),
    places            TEXT   NOT NULL,
    credit_id         TEXT   NOT NULL,
    walk              TEXT   NOT NULL,
    wrongs            TEXT   NOT NULL,
    walked_at         BIGINT NOT NULL,
    due_at            BIGINT NOT NULL,
    PRIMARY KEY (company_id)
);

-- Credits in suspense, which every check adds up. An operator of a large book may
-- make the index beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS settlement_credit_suspense ON settlement_credit (company_id, id) WHERE settlement_id = 0;

-- +goose Down
DROP INDEX settlement_credit_suspense;
DROP TABLE report_progress;
