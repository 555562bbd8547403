-- kobo: serves 45
-- +goose Up

-- The attempts of deliveries to an endpoint that ended in an hour, by the class of the answer and by how long it took. took_ms is the
-- longest time of the row. A row is at most a minute behind, and is deleted with the deliveries of its time.
CREATE TABLE webhook_hour (
    company_id  TEXT   NOT NULL,
    endpoint_id TEXT   NOT NULL,
    hour_at     BIGINT NOT NULL,
    answer      TEXT   NOT NULL CHECK (answer IN ('2xx', '3xx', '4xx', '5xx', 'none')),
    took_ms     BIGINT NOT NULL,
    attempts    BIGINT NOT NULL CHECK (attempts > 0),
    PRIMARY KEY (company_id, endpoint_id, hour_at, answer, took_ms),
    FOREIGN KEY (company_id, endpoint_id) REFERENCES webhook_endpoint (company_id, id)
);

-- +goose Down
DROP TABLE webhook_hour;
