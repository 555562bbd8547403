-- kobo: serves 45
-- +goose Up

-- The names and prices that the products of a pair had when an operator paired them. No purchase moves
-- along a pair from before this migration, until an operator pairs its products again.
ALTER TABLE vtu_product_pair ADD COLUMN first_name TEXT NOT NULL DEFAULT '';
ALTER TABLE vtu_product_pair ADD COLUMN first_kobo BIGINT NOT NULL DEFAULT 0;
ALTER TABLE vtu_product_pair ADD COLUMN second_name TEXT NOT NULL DEFAULT '';
ALTER TABLE vtu_product_pair ADD COLUMN second_kobo BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE vtu_product_pair DROP COLUMN second_kobo;
ALTER TABLE vtu_product_pair DROP COLUMN second_name;
ALTER TABLE vtu_product_pair DROP COLUMN first_kobo;
ALTER TABLE vtu_product_pair DROP COLUMN first_name;
