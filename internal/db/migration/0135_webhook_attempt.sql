-- kobo: serves 45
-- +goose Up

-- Each failed attempt of a delivery. A success is the last attempt of its delivery, and the delivery's own row describes it.
-- So a delivery that succeeds at once has no row here. The rows are deleted with their delivery.
CREATE TABLE webhook_attempt (
    company_id  TEXT   NOT NULL,
    delivery_id TEXT   NOT NULL,
    attempt     BIGINT NOT NULL CHECK (attempt > 0),
    status      BIGINT NOT NULL,
    latency_ms  BIGINT NOT NULL,
    response    TEXT   NOT NULL,
    trouble     TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, delivery_id, attempt),
    FOREIGN KEY (company_id, delivery_id) REFERENCES webhook_delivery (company_id, id)
);

-- +goose Down
DROP TABLE webhook_attempt;
