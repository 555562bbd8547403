-- kobo: serves 45
-- +goose Up

-- What a company has decided about itself. Without a row the rule is off.
CREATE TABLE company_rule (
    company_id TEXT   NOT NULL,
    name       TEXT   NOT NULL CHECK (name IN ('two_people')),
    state      TEXT   NOT NULL CHECK (state IN ('ON', 'OFF')),
    changed_by TEXT   NOT NULL,
    changed_at BIGINT NOT NULL,
    mac        TEXT   NOT NULL,
    PRIMARY KEY (company_id, name)
);

-- Acts of a company that wait for a second person of the company. body is the act as it was asked for,
-- without the PIN. asked_by is person:NAME or key:ID.
CREATE TABLE company_approval (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    body       TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('WAITING', 'APPROVED', 'REJECTED', 'WITHDRAWN')),
    asked_by   TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    first_by   TEXT   NOT NULL, -- the first of two people who approve what a program asked for
    decided_by TEXT   NOT NULL,
    decided_at BIGINT NOT NULL,
    mac        TEXT   NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE INDEX company_approval_newest ON company_approval (company_id, created_at);

-- +goose Down
DROP TABLE company_approval;
DROP TABLE company_rule;
