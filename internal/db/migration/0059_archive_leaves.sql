-- kobo: serves 45
-- +goose Up

-- The evidence numbers of the events in an archived month, as ranges such as 5-9,12. The MAC is
-- that of the month's row and of its counts (archive_kind), so nobody can hide a deleted event as
-- an archived one. A month that was archived before has neither.
ALTER TABLE archive_month ADD COLUMN leaves TEXT NOT NULL DEFAULT '';
ALTER TABLE archive_month ADD COLUMN mac TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE archive_month DROP COLUMN mac;
ALTER TABLE archive_month DROP COLUMN leaves;
