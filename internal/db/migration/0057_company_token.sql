-- kobo: serves 45
-- +goose Up

-- A token that a company exchanges once for an API key, or with which it sets its
-- PIN once. Only a keyed hash is kept. The last number of a purpose works; earlier
-- tokens have been replaced. key_expires_at 0: the API key will not expire.
CREATE TABLE company_token (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    purpose        TEXT   NOT NULL CHECK (purpose IN ('KEY', 'PIN')),
    number         BIGINT NOT NULL,
    hash           TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('OPEN', 'USED')),
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    key_expires_at BIGINT NOT NULL,
    used_at        BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id) REFERENCES company (company_id)
);

-- The audit log by time, operator and action, and the lines of no company that are
-- about one: failed requests for tokens, and what operators read.
CREATE INDEX operator_audit_time ON operator_audit (created_at, id);
CREATE INDEX operator_audit_operator ON operator_audit (operator, created_at, id);
CREATE INDEX operator_audit_action ON operator_audit (action, created_at, id);
CREATE INDEX operator_audit_subject ON operator_audit (company_id, subject, created_at);

-- +goose Down
DROP INDEX operator_audit_subject;
DROP INDEX operator_audit_action;
DROP INDEX operator_audit_operator;
DROP INDEX operator_audit_time;
DROP TABLE company_token;
