-- kobo: serves 45
-- +goose Up

-- When the customer was erased, or 0. The names of an erased customer are ''. An operator of many
-- customers may make the index on id beforehand, without a lock (docs/upgrading.md).
ALTER TABLE customer ADD COLUMN erased_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS customer_id ON customer (id);
CREATE INDEX customer_erased ON customer (company_id, number) WHERE erased_at > 0;

-- The customer of a closed session. The subject of an open session names the customer.
ALTER TABLE identity_session ADD COLUMN customer_id TEXT NOT NULL DEFAULT '';
CREATE INDEX identity_session_customer ON identity_session (company_id, customer_id) WHERE customer_id <> '';

-- The erasures of customers. While an erasure is OPEN, a job removes what names the customer from
-- stored responses and events. identity is the sealed record that the law demands. It is '' once the
-- erasure is FORGOTTEN.
CREATE TABLE erasure (
    company_id    TEXT   NOT NULL,
    customer_id   TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('OPEN', 'DONE', 'FORGOTTEN')),
    identity      TEXT   NOT NULL,
    response      TEXT   NOT NULL, -- the last Idempotency-Key whose response was looked at
    sequence      BIGINT NOT NULL, -- the last event that was looked at
    last_sequence BIGINT NOT NULL, -- the last event that may name the customer
    erased_at     BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id)
);

CREATE INDEX erasure_open ON erasure (company_id, customer_id) WHERE state = 'OPEN';

-- +goose Down
DROP TABLE erasure;
DROP INDEX identity_session_customer;
ALTER TABLE identity_session DROP COLUMN customer_id;
DROP INDEX customer_erased;
DROP INDEX customer_id;
ALTER TABLE customer DROP COLUMN erased_at;
