-- +goose Up

-- Of each master key with which this database was written something that only
-- its holder can say: a program that has none of them, or another under the
-- same id, would let nobody in and could read nothing that is sealed.
CREATE TABLE operator_keyring (
    key_id  TEXT   NOT NULL,
    proof   TEXT   NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (key_id)
);

-- +goose Down
DROP TABLE operator_keyring;
