-- kobo: serves 45
-- +goose Up

-- Finds the bulk payout to which a payout belongs. An operator of many bulk payouts may make the index beforehand, without
-- a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS payout_bulk_line_reference ON payout_bulk_line (company_id, reference);

-- +goose Down
DROP INDEX payout_bulk_line_reference;
