-- kobo: serves 45
-- +goose Up

-- Programs of this schema know references of companies with 10 characters (id.Cuid). They give them to new companies after
-- kobo migrate --finish, when no earlier program can start any more.

-- The outcome of an operation makes a new version of its row. PostgreSQL removes the old versions when they are a fifth of
-- the table, and this table is large.
ALTER TABLE operation SET (autovacuum_vacuum_scale_factor = 0.05);

-- +goose Down
ALTER TABLE operation RESET (autovacuum_vacuum_scale_factor);
