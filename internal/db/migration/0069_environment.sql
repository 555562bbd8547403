-- kobo: serves 45
-- +goose Up

-- The environment to which this database belongs. The first start of a serving program
-- sets it, and it never changes. Empty: no program has started yet.
ALTER TABLE deployment ADD COLUMN environment TEXT NOT NULL DEFAULT '' CHECK (environment IN ('', 'dev', 'staging', 'live'));

-- Earlier programs recorded accounts at banks only in live mode.
UPDATE deployment SET environment = 'live' WHERE EXISTS (SELECT 1 FROM inbox_bank);

-- +goose Down
ALTER TABLE deployment DROP COLUMN environment;
