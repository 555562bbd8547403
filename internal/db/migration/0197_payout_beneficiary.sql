-- kobo: serves 45
-- +goose Up

-- The accounts that people of a company have kept for their next payouts, with the name as the bank said it. Each payout asks the
-- bank for the name again, so a row pays nobody. It is deleted when somebody removes it.
CREATE TABLE payout_beneficiary (
    company_id     TEXT   NOT NULL,
    bank_code      TEXT   NOT NULL,
    account_number TEXT   NOT NULL,
    bank_name      TEXT   NOT NULL,
    account_name   TEXT   NOT NULL,
    label          TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, bank_code, account_number)
);

-- +goose Down
DROP TABLE payout_beneficiary;
