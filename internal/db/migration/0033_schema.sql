-- kobo: serves 32
-- +goose Up

-- The oldest schema whose program runs on this database. An older program does
-- not have the newer migrations, and reads here whether they serve it.
CREATE TABLE db_schema (
    id     BIGINT NOT NULL CHECK (id = 1),
    serves BIGINT NOT NULL,
    PRIMARY KEY (id)
);

INSERT INTO db_schema (id, serves) VALUES (1, 32);

-- +goose Down
DROP TABLE db_schema;
