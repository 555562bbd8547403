-- +goose Up

-- How many webhooks a company has is a running sum, so that its limit holds
-- however many are made at once.
INSERT INTO ledger_counter (company_id, name, value)
SELECT company_id, 'webhooks', count(*) FROM webhook_endpoint WHERE state <> 'DELETED' GROUP BY company_id;

-- +goose Down
DELETE FROM ledger_counter WHERE name = 'webhooks';
