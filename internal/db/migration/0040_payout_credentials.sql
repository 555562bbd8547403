-- kobo: serves 32
-- +goose Up

-- How often the company's PIN had been reset, or all its API keys revoked, when
-- the account was validated. Once more makes the verification void.
ALTER TABLE payout_verification ADD COLUMN credentials BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE payout_verification DROP COLUMN credentials;
