-- kobo: serves 45
-- +goose Up

-- An operator pastes a bank's reference about which a case is open, and Kobo does not know whose case it is: of the house, or of the
-- company of the credit that differs. The index finds it without a look into every company.
CREATE INDEX IF NOT EXISTS operation_case_subject ON operation_case (subject);

-- +goose Down
DROP INDEX operation_case_subject;
