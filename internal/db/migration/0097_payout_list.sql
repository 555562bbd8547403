-- kobo: serves 45
-- +goose Up

-- The settlement account that paid, so that a filtered list counts payouts by one index. 0 in rows
-- of earlier schemas: the verification has it there.
ALTER TABLE payout ADD COLUMN settlement_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX payout_list ON payout (company_id, created_at, id, settlement_id);

-- +goose Down
DROP INDEX payout_list;
ALTER TABLE payout DROP COLUMN settlement_id;
