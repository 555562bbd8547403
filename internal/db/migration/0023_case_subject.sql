-- +goose Up

-- A case about a bank's session names the bank as well: two banks may use one
-- session. Until now there was one bank.
UPDATE operation_case SET subject = 'safehaven/' || subject
WHERE company_id = 'house' AND reason <> 'UNREADABLE_NOTIFICATION';

UPDATE operation_case SET subject = 'safehaven/' || subject
WHERE company_id <> 'house' AND EXISTS (
    SELECT 1 FROM settlement_credit AS c
    WHERE c.company_id = operation_case.company_id AND c.provider = 'safehaven' AND c.session_id = operation_case.subject
);

-- +goose Down
UPDATE operation_case SET subject = substr(subject, 11) WHERE subject LIKE 'safehaven/%';
