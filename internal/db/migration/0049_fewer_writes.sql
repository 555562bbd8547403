-- kobo: serves 32
-- +goose Up

-- The id of a new event contains its number and begins with f, so its primary key
-- finds it. Only the events before this schema are found by an index of ids. An
-- operator of a large book may make the index beforehand, without a lock
-- (docs/upgrading.md).
CREATE UNIQUE INDEX IF NOT EXISTS event_old_id ON event (company_id, id) WHERE id < 'f';
DROP INDEX event_id;

-- Each row of these tables is changed after it is written. The changed row fits into
-- the page of the first one, and no index is written again.
ALTER TABLE idempotency_key SET (fillfactor = 40);
ALTER TABLE operation SET (fillfactor = 50);
ALTER TABLE ledger_head SET (fillfactor = 50);
ALTER TABLE ledger_account SET (fillfactor = 50);
ALTER TABLE ledger_counter SET (fillfactor = 50);

-- The open operations of a company are those of its jobs and open cases. While an
-- index contains the state, each outcome writes every index of operations again.
DROP INDEX operation_pending;

-- +goose Down
CREATE INDEX operation_pending ON operation (company_id, id) WHERE state = 'PENDING';
ALTER TABLE operation RESET (fillfactor);
ALTER TABLE ledger_counter RESET (fillfactor);
ALTER TABLE ledger_account RESET (fillfactor);
ALTER TABLE ledger_head RESET (fillfactor);
ALTER TABLE idempotency_key RESET (fillfactor);

CREATE UNIQUE INDEX event_id ON event (company_id, id);
DROP INDEX event_old_id;
