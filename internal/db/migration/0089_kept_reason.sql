-- kobo: serves 45
-- +goose Up

-- The word of the header Kobo-Reason of a stored response. A program of an earlier schema stores none.
ALTER TABLE idempotency_key ADD COLUMN reason TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE idempotency_key DROP COLUMN reason;
