-- kobo: serves 45
-- +goose Up

-- What a person has chosen for the pages: the columns of a list, and the lists with filters that the person has saved. It gives
-- no power, so it has no MAC. company is '' for an operator, and the table is one of no company, as person_session is.
CREATE TABLE person_setting (
    company    TEXT   NOT NULL,
    person_id  TEXT   NOT NULL,
    kind       TEXT   NOT NULL CHECK (kind IN ('COLUMNS', 'VIEW')),
    name       TEXT   NOT NULL,
    value      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company, person_id, kind, name)
);

-- +goose Down
DROP TABLE person_setting;
