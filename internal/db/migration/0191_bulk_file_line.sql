-- kobo: serves 45
-- +goose Up

-- The number of the line in the file from which a line of a bulk payout comes. 0 if it comes from no file. Heads of
-- columns and empty lines make it differ from the number within the bulk payout.
ALTER TABLE payout_bulk_line ADD COLUMN file_line BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE payout_bulk_line DROP COLUMN file_line;
