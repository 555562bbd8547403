-- kobo: serves 45
-- +goose Up

-- Which answers are kept, the oldest first: their bodies go after 13 months.
CREATE INDEX idempotency_key_body ON idempotency_key (company_id, created_at) WHERE body <> '';

-- +goose Down
DROP INDEX idempotency_key_body;
