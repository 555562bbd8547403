-- kobo: serves 45
-- +goose Up

-- The last request with each API key of a company, as far as it was written: at most once a minute, and when a program stops.
CREATE TABLE request_key_use (
    company_id TEXT   NOT NULL,
    key_id     TEXT   NOT NULL,
    used_at    BIGINT NOT NULL,
    address    TEXT   NOT NULL,
    PRIMARY KEY (company_id, key_id)
);

-- +goose Down
DROP TABLE request_key_use;
