-- kobo: serves 45
-- +goose Up

-- Rows of evidence are read in tiles of 256. Each row of a tile has the same key, and PostgreSQL stores such a
-- key once. So the index of the tiles takes a tenth of the index of the numbers, which kobo migrate --finish
-- removes. An operator of a large ledger may make the indexes beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS event_tile ON event (company_id, (leaf / 256));
CREATE INDEX IF NOT EXISTS ledger_transfer_tile ON ledger_transfer (company_id, (leaf / 256));

-- Many providers answer with our own reference, by which the primary key finds the operation. Only other
-- references need an index.
CREATE INDEX IF NOT EXISTS operation_other_reference ON operation (provider_reference)
    WHERE provider_reference <> '' AND provider_reference <> id;

-- No changed row fits into the page of the first one without an index (0152_operation_fill.sql), so a page needs
-- no room for it.
ALTER TABLE operation SET (fillfactor = 100);

-- +goose Down
ALTER TABLE operation SET (fillfactor = 90);
CREATE INDEX IF NOT EXISTS operation_provider_reference ON operation (provider_reference) WHERE provider_reference <> '';
DROP INDEX operation_other_reference;
DROP INDEX ledger_transfer_tile;
DROP INDEX event_tile;
CREATE INDEX IF NOT EXISTS event_leaf ON event (company_id, leaf);
CREATE INDEX IF NOT EXISTS ledger_transfer_leaf ON ledger_transfer (company_id, leaf);
