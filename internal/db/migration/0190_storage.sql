-- kobo: serves 45
-- +goose Up

-- Rows of evidence are read in tiles of 256. Each row of a tile has the same key, and PostgreSQL stores such a
-- key once. So the index of the tiles takes a tenth of the index of the numbers, which kobo migrate --finish
-- removes. An operator of a large ledger may make the indexes beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS event_tile ON event (company_id, (leaf / 256));
CREATE INDEX IF NOT EXISTS ledger_transfer_tile ON ledger_transfer (company_id, (leaf / 256));

-- +goose Down
DROP INDEX ledger_transfer_tile;
DROP INDEX event_tile;
CREATE INDEX IF NOT EXISTS event_leaf ON event (company_id, leaf);
CREATE INDEX IF NOT EXISTS ledger_transfer_leaf ON ledger_transfer (company_id, leaf);
