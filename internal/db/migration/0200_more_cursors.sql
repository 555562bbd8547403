-- kobo: serves 45
-- +goose Up

-- Operators go through companies, adjustments and proposals page by page, and companies through what they have. Each page begins
-- after the last row of the one before, so each list needs an index in its own order.
CREATE INDEX IF NOT EXISTS company_newest ON company (created_at, company_id);
CREATE INDEX IF NOT EXISTS settlement_adjustment_state ON settlement_adjustment (state, created_at, id);
CREATE INDEX IF NOT EXISTS operator_proposal_newest ON operator_proposal (created_at, id);

-- +goose Down
DROP INDEX operator_proposal_newest;
DROP INDEX settlement_adjustment_state;
DROP INDEX company_newest;
