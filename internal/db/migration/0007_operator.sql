-- +goose Up

-- A key to the operators' door, of which only a keyed hash is kept. A name is
-- one person's, and has one working key.
CREATE TABLE operator_key (
    id         TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('ACTIVE', 'REVOKED')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX operator_key_working ON operator_key (name) WHERE state = 'ACTIVE';

-- What operators did, append-only. company_id is empty for what concerns no
-- company, such as a new operator.
CREATE TABLE operator_audit (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    operator   TEXT   NOT NULL,
    action     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    details    TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- The log of all companies, the newest first: ids grow with time.
CREATE INDEX operator_audit_newest ON operator_audit (id);

-- +goose Down
DROP TABLE operator_audit;
DROP TABLE operator_key;
