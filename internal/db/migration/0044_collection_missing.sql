-- kobo: serves 32
-- +goose Up

-- How often the bank did not have a virtual account whose opening was not answered.
ALTER TABLE collection ADD COLUMN missing BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE collection DROP COLUMN missing;
