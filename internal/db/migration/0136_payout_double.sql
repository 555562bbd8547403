-- kobo: serves 45
-- +goose Up

-- The newest payout of the last seven days to the same account with the same amount as a line of a bulk payout. '' for none.
ALTER TABLE payout_bulk_line ADD COLUMN double_of TEXT NOT NULL DEFAULT '';

-- Finds the payouts to an account. An operator of many payouts may make the index beforehand, without a lock
-- (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS payout_verification_account ON payout_verification (company_id, account_number, created_at);

-- +goose Down
DROP INDEX payout_verification_account;
ALTER TABLE payout_bulk_line DROP COLUMN double_of;
