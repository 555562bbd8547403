-- kobo: serves 45
-- +goose Up

-- The tree of a company is computed from its rows of evidence, in the order of their leaves. An
-- operator of a large ledger may make the indexes beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS ledger_transfer_leaf ON ledger_transfer (company_id, leaf);
CREATE INDEX IF NOT EXISTS event_leaf ON event (company_id, leaf);
CREATE INDEX IF NOT EXISTS operator_audit_leaf ON operator_audit (company_id, leaf);

-- Whole tiles: 256 hashes next to each other, and the root above them. Level 0 holds the hashes of
-- leaves, and each level above holds the roots of tiles of the level below.
CREATE TABLE evidence_tile (
    company_id TEXT   NOT NULL,
    level      BIGINT NOT NULL CHECK (level >= 0),
    tile       BIGINT NOT NULL CHECK (tile >= 0),
    root       TEXT   NOT NULL,
    hashes     TEXT   NOT NULL,
    PRIMARY KEY (company_id, level, tile)
);

-- The number of leaves of each tree that the last checkpoint of the tree covers. The row of the
-- deployment's tree (company 'deployment') is the lock under which all checkpoints are signed.
CREATE TABLE evidence_tree (
    company_id TEXT   NOT NULL,
    size       BIGINT NOT NULL CHECK (size >= 0),
    PRIMARY KEY (company_id)
);

-- The checkpoints of each tree. A leaf is the number of a company's checkpoint in the deployment's
-- tree.
CREATE TABLE evidence_checkpoint (
    company_id TEXT   NOT NULL,
    size       BIGINT NOT NULL CHECK (size >= 0),
    root       TEXT   NOT NULL,
    note       TEXT   NOT NULL,
    leaf       BIGINT NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('SIGNED', 'TOLD')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, size)
);

CREATE INDEX evidence_checkpoint_untold ON evidence_checkpoint (company_id, size) WHERE state = 'SIGNED';

-- The hashes of the leaves of the deployment's tree, which are the texts of companies' checkpoints.
CREATE TABLE evidence_leaf (
    company_id TEXT   NOT NULL,
    leaf       BIGINT NOT NULL CHECK (leaf > 0),
    hash       TEXT   NOT NULL,
    PRIMARY KEY (company_id, leaf)
);

-- The hashes of leaves whose rows were changed on purpose, to erase a person.
CREATE TABLE evidence_erased (
    company_id TEXT   NOT NULL,
    leaf       BIGINT NOT NULL CHECK (leaf > 0),
    hash       TEXT   NOT NULL,
    erased_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, leaf)
);

-- +goose Down
DROP TABLE evidence_erased;
DROP TABLE evidence_leaf;
DROP TABLE evidence_checkpoint;
DROP TABLE evidence_tree;
DROP TABLE evidence_tile;
DROP INDEX operator_audit_leaf;
DROP INDEX event_leaf;
DROP INDEX ledger_transfer_leaf;
