-- +goose Up

-- Where a company wants its events sent. Secrets are sealed; the older one
-- still signs until old_until. How the endpoint has been doing is here too.
CREATE TABLE webhook_endpoint (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    url         TEXT   NOT NULL,
    description TEXT   NOT NULL,
    kinds       TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('ACTIVE', 'FAILING', 'PAUSED', 'DELETED')),
    secret      TEXT   NOT NULL,
    old_secret  TEXT   NOT NULL,
    old_until   BIGINT NOT NULL,
    failures    BIGINT NOT NULL CHECK (failures >= 0),
    failed_at   BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- The queues of an endpoint, each held by a lease of its own: new events, what
-- failed before, and replays. A queue of events is a place in the company's feed
-- and nothing else, so one of a million is one row.
CREATE TABLE webhook_lane (
    company_id  TEXT   NOT NULL,
    endpoint_id TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    kind        TEXT   NOT NULL CHECK (kind IN ('events', 'retries', 'replay')),
    sequence    BIGINT NOT NULL CHECK (sequence >= 0),
    through     BIGINT NOT NULL CHECK (through >= 0),
    due_at      BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    fence       BIGINT NOT NULL,
    PRIMARY KEY (company_id, endpoint_id, id),
    FOREIGN KEY (company_id, endpoint_id) REFERENCES webhook_endpoint (company_id, id)
);

-- An event that was sent to an endpoint, and what came back last.
CREATE TABLE webhook_delivery (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    endpoint_id TEXT   NOT NULL,
    event_id    TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    sequence    BIGINT NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
    attempts    BIGINT NOT NULL,
    status      BIGINT NOT NULL,
    latency_ms  BIGINT NOT NULL,
    excerpt     TEXT   NOT NULL,
    trouble     TEXT   NOT NULL,
    next_at     BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, endpoint_id) REFERENCES webhook_endpoint (company_id, id)
);

-- An endpoint's deliveries, newest first: ids are ordered by time.
CREATE INDEX webhook_delivery_endpoint ON webhook_delivery (company_id, endpoint_id, id);

-- What is to be tried again. Only what waits is in it.
CREATE INDEX webhook_delivery_retry ON webhook_delivery (company_id, endpoint_id, next_at) WHERE state = 'PENDING';

-- What was given up.
CREATE INDEX webhook_delivery_failed ON webhook_delivery (company_id, endpoint_id, id) WHERE state = 'FAILED';

-- +goose Down
DROP TABLE webhook_delivery;
DROP TABLE webhook_lane;
DROP TABLE webhook_endpoint;
