-- +goose Up

-- The uses of the Idempotency-Key header: what was asked, and the answer as it
-- was sent.
CREATE TABLE idempotency_key (
    company_id    TEXT   NOT NULL,
    value         TEXT   NOT NULL,
    fingerprint   TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('RUNNING', 'DONE')),
    subject       TEXT   NOT NULL,
    running_until BIGINT NOT NULL,
    status        BIGINT NOT NULL,
    body          TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, value)
);

-- +goose Down
DROP TABLE idempotency_key;
