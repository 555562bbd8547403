-- kobo: serves 45
-- +goose Up

-- What a request has begun, such as the id of a payout. '' for a request of an earlier schema.
ALTER TABLE request_log ADD COLUMN subject TEXT NOT NULL DEFAULT '';

-- The requests that began a payment. Most requests begin none, and need no place in it.
CREATE INDEX request_log_subject ON request_log (company_id, subject) WHERE subject <> '';

-- Operators look for these values over all companies (report/search.go).
CREATE INDEX IF NOT EXISTS request_log_request ON request_log (request_id, created_at);
CREATE INDEX IF NOT EXISTS person_name ON person (name) WHERE state = 'ACTIVE';
CREATE INDEX IF NOT EXISTS settlement_credit_sender ON settlement_credit (sender_account, created_at) WHERE sender_account <> '';

-- +goose Down
DROP INDEX settlement_credit_sender;
DROP INDEX person_name;
DROP INDEX request_log_request;
DROP INDEX request_log_subject;
ALTER TABLE request_log DROP COLUMN subject;
