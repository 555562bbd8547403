-- kobo: serves 45
-- +goose Up

-- The number of a proposal's acts. An approved proposal with fewer done acts is unfinished. Proposals of
-- before have 0, and count as finished.
ALTER TABLE operator_proposal ADD COLUMN act_count BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE operator_proposal DROP COLUMN act_count;
