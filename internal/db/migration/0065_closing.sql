-- kobo: serves 45
-- +goose Up

-- The instant at which an account was closed to debits, because its rows do not verify. 0 means that
-- the account is open.
ALTER TABLE ledger_account ADD COLUMN closed_at BIGINT NOT NULL DEFAULT 0;

-- The closed accounts, which a metric counts.
CREATE INDEX ledger_account_closed ON ledger_account (company_id, id) WHERE closed_at <> 0;

-- The rows that a walk found altered or added. The id is a hash of the row's place and its content. So a
-- further alteration of the row has a row of its own. The account is '' for a row that belongs to no
-- account. The MAC covers the state, which two operators change.
CREATE TABLE settlement_finding (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    account_id TEXT   NOT NULL,
    detail     TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('FOUND', 'ACCEPTED')),
    mac        TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE INDEX settlement_finding_account ON settlement_finding (company_id, account_id);

-- +goose Down
DROP TABLE settlement_finding;
DROP INDEX ledger_account_closed;
ALTER TABLE ledger_account DROP COLUMN closed_at;
