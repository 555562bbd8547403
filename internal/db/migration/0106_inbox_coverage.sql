-- kobo: serves 45
-- +goose Up

-- The time of the newest credit of the account that the poll has read, by the bank's clock. The next
-- round begins there if our own clock was ahead. 0: not known, so the round begins at done_until.
ALTER TABLE inbox_account ADD COLUMN newest_at BIGINT NOT NULL DEFAULT 0;
-- The time from which the open round reads. 0: between two rounds, and in a round of an earlier program.
ALTER TABLE inbox_account ADD COLUMN from_at BIGINT NOT NULL DEFAULT 0;
-- How many reads in a row the bank has refused or not answered.
ALTER TABLE inbox_account ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
-- The number of the last whole listing that had the account.
ALTER TABLE inbox_account ADD COLUMN listing BIGINT NOT NULL DEFAULT 0;
-- When the account left the poll, since the bank neither lists it nor answers for it. 0: it is polled.
ALTER TABLE inbox_account ADD COLUMN retired_at BIGINT NOT NULL DEFAULT 0;
-- The number of the present listing, which counts the whole listings of the bank's accounts.
ALTER TABLE inbox_sweep ADD COLUMN listing BIGINT NOT NULL DEFAULT 0;
-- How many of our own accounts the last whole listing lacked, without the retired ones.
ALTER TABLE inbox_sweep ADD COLUMN unlisted BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE inbox_sweep DROP COLUMN unlisted;
ALTER TABLE inbox_sweep DROP COLUMN listing;
ALTER TABLE inbox_account DROP COLUMN retired_at;
ALTER TABLE inbox_account DROP COLUMN listing;
ALTER TABLE inbox_account DROP COLUMN failures;
ALTER TABLE inbox_account DROP COLUMN from_at;
ALTER TABLE inbox_account DROP COLUMN newest_at;
