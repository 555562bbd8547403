-- kobo: serves 45
-- +goose Up

-- What an operator may do. The keys of before have every right, as they had, and never expire.
ALTER TABLE operator_key ADD COLUMN role TEXT NOT NULL DEFAULT 'admin' CHECK (role IN ('viewer', 'support', 'finance', 'admin'));
ALTER TABLE operator_key ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operator_key ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0;

-- A revoked key has no hash, so that a change of its state alone does not revive it.
UPDATE operator_key SET hash = '' WHERE state = 'REVOKED';

-- Whether Kobo itself closed API access: then two operators open it.
ALTER TABLE operator_door ADD COLUMN automatic BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE operator_door DROP COLUMN automatic;
ALTER TABLE operator_key DROP COLUMN used_at;
ALTER TABLE operator_key DROP COLUMN expires_at;
ALTER TABLE operator_key DROP COLUMN role;
