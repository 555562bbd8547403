-- kobo: serves 45
-- +goose Up

-- The company's own reference and metadata of an operation. An operation without them has no row.
-- The credit that pays a collection has a row too, with the labels of the collection.
CREATE TABLE operation_label (
    company_id         TEXT   NOT NULL,
    id                 TEXT   NOT NULL,
    kind               TEXT   NOT NULL,
    external_reference TEXT   NOT NULL,
    metadata           TEXT   NOT NULL,
    created_at         BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX operation_label_reference ON operation_label (company_id, kind, external_reference) WHERE external_reference <> '';

-- One row for each key of the metadata, and one for the reference. The mark is a digest of the kind,
-- the key and the value.
CREATE TABLE operation_mark (
    company_id TEXT NOT NULL,
    mark       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    PRIMARY KEY (company_id, mark, subject)
);

ALTER TABLE collection ADD COLUMN metadata TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE collection DROP COLUMN metadata;
DROP TABLE operation_mark;
DROP TABLE operation_label;
