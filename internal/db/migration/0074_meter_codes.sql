-- kobo: serves 45
-- +goose Up

-- The codes for a prepaid meter in addition to its token, as JSON; '' for none.
ALTER TABLE operation ADD COLUMN meter_codes TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE operation DROP COLUMN meter_codes;
