-- kobo: serves 45
-- +goose Up

-- Each leaf of the deployment's tree has one checkpoint of a company.
CREATE INDEX evidence_checkpoint_leaf ON evidence_checkpoint (leaf);

-- How many leaves of the deployment's tree had no such checkpoint when the last start, or the last
-- hourly run, compared them. API access is closed only when there are more.
ALTER TABLE evidence_tree ADD COLUMN lost BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE evidence_tree DROP COLUMN lost;
DROP INDEX evidence_checkpoint_leaf;
