-- kobo: serves 45
-- +goose Up

-- Whether this database was restored, and no operator has ended the hold since. While it is 1, no
-- purchase moves to a further biller.
ALTER TABLE deployment ADD COLUMN moves_held BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE deployment DROP COLUMN moves_held;
