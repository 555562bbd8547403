-- kobo: serves 45
-- +goose Up

-- A company's list of open operations reads its open cases.
CREATE INDEX operation_case_open ON operation_case (company_id, subject) WHERE state = 'OPEN';

-- +goose Down
DROP INDEX operation_case_open;
