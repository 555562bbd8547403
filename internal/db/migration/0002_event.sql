-- +goose Up

-- What a company is told, numbered 1, 2, 3 … without a gap, each row written in
-- the commit that caused it.
CREATE TABLE event (
    company_id TEXT   NOT NULL,
    sequence   BIGINT NOT NULL CHECK (sequence > 0),
    id         TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    data       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, sequence)
);

CREATE UNIQUE INDEX event_id ON event (company_id, id);

-- +goose Down
DROP TABLE event;
