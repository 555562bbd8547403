-- kobo: serves 45
-- +goose Up

-- The card fundings of a company without an outcome. Other operations have no entry in it. An operator of many rows may make the index
-- beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS operation_pending_card ON operation (company_id, id) WHERE state = 'PENDING' AND kind = 'card';

-- +goose Down
DROP INDEX operation_pending_card;
