-- kobo: serves 45
-- +goose Up

-- Whether the customer's name occurs in the name that the bank has for the BVN. Empty: the bank has
-- not returned a name. The bank's name itself is not stored.
ALTER TABLE customer_account ADD COLUMN name_match TEXT NOT NULL DEFAULT ''
    CHECK (name_match IN ('', 'MATCH', 'PARTIAL', 'MISMATCH'));
CREATE INDEX customer_account_name_match ON customer_account (name_match, company_id, customer_id) WHERE name_match <> '';

-- +goose Down
DROP INDEX customer_account_name_match;
ALTER TABLE customer_account DROP COLUMN name_match;
