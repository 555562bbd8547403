-- kobo: serves 45
-- +goose Up

-- Two products of different billers that operators have declared to be the same. The product with
-- the smaller ID is the first.
CREATE TABLE vtu_product_pair (
    id         TEXT   NOT NULL,
    first_id   TEXT   NOT NULL REFERENCES vtu_product (id),
    second_id  TEXT   NOT NULL REFERENCES vtu_product (id),
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (first_id, second_id),
    CHECK (first_id < second_id)
);
CREATE INDEX IF NOT EXISTS vtu_product_pair_second ON vtu_product_pair (second_id, first_id);

-- +goose Down
DROP TABLE vtu_product_pair;
