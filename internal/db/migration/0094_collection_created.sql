-- kobo: serves 45
-- +goose Up

-- A company lists its virtual accounts by the time of their making. An operator of a large book
-- may make the index beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS collection_created ON collection (company_id, created_at, id);

-- +goose Down
DROP INDEX collection_created;
