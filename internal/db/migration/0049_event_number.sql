-- kobo: serves 32
-- +goose Up

-- The id of a new event contains its number and begins with f, so its primary key
-- finds it. Only the events before this schema are found by an index of ids. An
-- operator of a large book may make the index beforehand, without a lock
-- (docs/upgrading.md).
CREATE UNIQUE INDEX IF NOT EXISTS event_old_id ON event (company_id, id) WHERE id < 'f';
DROP INDEX event_id;

-- +goose Down
CREATE UNIQUE INDEX event_id ON event (company_id, id);
DROP INDEX event_old_id;
