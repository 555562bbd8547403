-- kobo: serves 45
-- +goose Up

-- Programs of this schema know references of companies with 10 characters (id.Cuid). They give them to new companies after
-- kobo migrate --finish, when no earlier program can start any more. No table changes.
SELECT 1;

-- +goose Down
SELECT 1;
