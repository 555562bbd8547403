-- kobo: serves 45
-- +goose Up

-- Operators go through all cases, and through the audit lines of a company, page by page. Each page begins after the last row of
-- the one before, so each list needs an index in its own order.
CREATE INDEX IF NOT EXISTS operation_case_newest ON operation_case (state, created_at, id);
CREATE INDEX IF NOT EXISTS operation_case_company ON operation_case (company_id, state, created_at, id);
CREATE INDEX IF NOT EXISTS operator_audit_company ON operator_audit (company_id, created_at, id);

-- +goose Down
DROP INDEX operator_audit_company;
DROP INDEX operation_case_company;
DROP INDEX operation_case_newest;
