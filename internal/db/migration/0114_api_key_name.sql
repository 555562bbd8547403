-- kobo: serves 45
-- +goose Up

-- The company's own name for an API key, and the last four characters of the key. Both are '' for a
-- key of an earlier schema.
ALTER TABLE company_api_key ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE company_api_key ADD COLUMN ending TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE company_api_key DROP COLUMN ending;
ALTER TABLE company_api_key DROP COLUMN name;
