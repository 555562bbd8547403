-- kobo: serves 32
-- +goose Up

-- The requests that a company may make per second. 0 means the setting of the deployment.
ALTER TABLE company ADD COLUMN requests_per_second BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE company DROP COLUMN requests_per_second;
