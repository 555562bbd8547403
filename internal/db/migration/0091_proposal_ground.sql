-- kobo: serves 45
-- +goose Up

-- The number of the company's acts right after this act of a proposal. A continued proposal compares it with the
-- present number. Acts of a program of an earlier schema have 0.
ALTER TABLE operator_act ADD COLUMN acts BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE operator_act DROP COLUMN acts;
