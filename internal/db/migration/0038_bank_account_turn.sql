-- kobo: serves 32
-- +goose Up

-- A bank account may feed another settlement account of its company from now on.
-- The turn counts those changes, so that of two at once one is told to look again.
ALTER TABLE settlement_bank_account ADD COLUMN turn TEXT NOT NULL DEFAULT '0';

-- +goose Down
ALTER TABLE settlement_bank_account DROP COLUMN turn;
