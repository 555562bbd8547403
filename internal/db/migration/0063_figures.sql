-- kobo: serves 45
-- +goose Up

-- When the credit poll of a bank last finished a round. 0 means that no round has
-- finished since this schema.
ALTER TABLE inbox_sweep ADD COLUMN finished_at BIGINT NOT NULL DEFAULT 0;

-- When the statement of a bank was last compared with the ledger.
CREATE TABLE report_reconciliation (
    company_id TEXT   NOT NULL, -- the house
    provider   TEXT   NOT NULL,
    done_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, provider)
);

-- The companies whose last walk has found a difference.
CREATE INDEX report_progress_wrong ON report_progress (company_id) WHERE substr(wrongs, 1, 2) = '["';

-- +goose Down
DROP INDEX report_progress_wrong;
DROP TABLE report_reconciliation;
ALTER TABLE inbox_sweep DROP COLUMN finished_at;
