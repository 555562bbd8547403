-- kobo: serves 45
-- +goose Up

-- What has just changed about any company, for the programs that keep companies in memory (company.changed).
CREATE INDEX company_changed ON company (updated_at);

-- +goose Down
DROP INDEX company_changed;
