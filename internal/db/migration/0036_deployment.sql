-- kobo: serves 32
-- +goose Up

-- How far this database has come: every serving program raises the epoch once a
-- second. A file outside remembers the last one, so an old copy is noticed. The
-- name tells this database, and its copies, from others.
CREATE TABLE deployment (
    id    BIGINT NOT NULL CHECK (id = 1),
    name  TEXT   NOT NULL,
    epoch BIGINT NOT NULL CHECK (epoch >= 0),
    PRIMARY KEY (id)
);

-- The list of purchases, newest first: the ids of keyed purchases follow from
-- their keys and not from the time. An operator of a large book may make the index
-- beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS vtu_purchase_newest ON vtu_purchase (company_id, created_at, id);

-- +goose Down
DROP INDEX vtu_purchase_newest;
DROP TABLE deployment;
