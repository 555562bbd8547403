-- kobo: serves 45
-- +goose Up

-- A MAC that only a holder of the evidence key can make. So nobody else can record a row as erased.
ALTER TABLE evidence_erased ADD COLUMN mac TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE evidence_erased DROP COLUMN mac;
