-- kobo: serves 45
-- +goose Up

-- The pages of payouts and of bulk payouts look through the approvals that wait. Without this index they read each approval of the
-- last day too that was decided.
CREATE INDEX IF NOT EXISTS company_approval_waiting ON company_approval (company_id, created_at) WHERE state = 'WAITING';

-- +goose Down
DROP INDEX company_approval_waiting;
