-- kobo: serves 45
-- +goose Up

-- How far the credit poll has read the list of credits of each account at a bank. A round that is
-- not finished goes on at its page. due_at: when the next round may begin. polled_at: when the last
-- finished round began, and before the first round when the account was added.
CREATE TABLE inbox_account (
    company_id     TEXT   NOT NULL, -- the house
    provider       TEXT   NOT NULL,
    account        TEXT   NOT NULL, -- the bank's id of the account
    account_number TEXT   NOT NULL,
    main           BIGINT NOT NULL CHECK (main IN (0, 1)),
    done_until     BIGINT NOT NULL,
    round_at       BIGINT NOT NULL,
    page           BIGINT NOT NULL,
    next_until     BIGINT NOT NULL,
    due_at         BIGINT NOT NULL,
    polled_at      BIGINT NOT NULL,
    PRIMARY KEY (company_id, provider, account)
);
CREATE INDEX inbox_account_due ON inbox_account (company_id, provider, due_at);
CREATE INDEX inbox_account_polled ON inbox_account (company_id, provider, polled_at);
CREATE INDEX inbox_account_number ON inbox_account (company_id, provider, account_number);

-- The time from which the poll reads the credits of each account. 0: the next start sets it to
-- done_until, since programs of an earlier schema have read all credits before that time.
ALTER TABLE inbox_sweep ADD COLUMN since_at BIGINT NOT NULL DEFAULT 0;
-- The next page to read of the bank's list of accounts.
ALTER TABLE inbox_sweep ADD COLUMN listed BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE inbox_sweep DROP COLUMN listed;
ALTER TABLE inbox_sweep DROP COLUMN since_at;
DROP TABLE inbox_account;
