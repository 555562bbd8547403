-- kobo: serves 45
-- +goose Up

-- The outcome of an operation writes the index of the provider's reference (0126_search.sql). So PostgreSQL never
-- changes the row within its page alone, and the room that migration 49 leaves in each page stays empty. Pages that
-- exist keep their room.
ALTER TABLE operation SET (fillfactor = 90);

-- +goose Down
ALTER TABLE operation SET (fillfactor = 50);
