-- +goose Up

-- Why the companies' door is closed. The one row is there while it is: a
-- restored database is worked, and shown to nobody, until an operator opens it.
CREATE TABLE operator_door (
    id        BIGINT NOT NULL CHECK (id = 1),
    reason    TEXT   NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);

-- +goose Down
DROP TABLE operator_door;
