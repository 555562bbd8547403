-- kobo: serves 45
-- +goose Up

-- The requests of companies. A refused request has its redacted body. The id begins with the time, so its order is that of
-- the requests. No row belongs to a commit of money, and old rows are deleted.
CREATE TABLE request_log (
    company_id      TEXT   NOT NULL,
    id              TEXT   NOT NULL,
    method          TEXT   NOT NULL,
    path            TEXT   NOT NULL,
    status          BIGINT NOT NULL,
    reason          TEXT   NOT NULL,
    request_id      TEXT   NOT NULL,
    idempotency_key TEXT   NOT NULL,
    api_key_id      TEXT   NOT NULL,
    address         TEXT   NOT NULL,
    body            TEXT   NOT NULL,
    took_micros     BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- +goose Down
DROP TABLE request_log;
