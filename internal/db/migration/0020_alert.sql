-- +goose Up
LOCK TABLE ledger_head, ledger_account IN ACCESS EXCLUSIVE MODE;

-- A head also holds the instant of the company's last entry or event: the next
-- one is not dated before it, whichever program writes it. And an account may
-- have an alert: a fall below it is told (0 for none).
--
-- SQLite adds no column without a default, and no column of ours has one, so
-- the two tables are made anew.
CREATE TABLE ledger_head_new (
    company_id     TEXT   NOT NULL,
    event_sequence BIGINT NOT NULL CHECK (event_sequence >= 0),
    dated_at       BIGINT NOT NULL,
    PRIMARY KEY (company_id)
);
INSERT INTO ledger_head_new (company_id, event_sequence, dated_at)
SELECT h.company_id, h.event_sequence, coalesce(e.created_at, 0)
FROM ledger_head AS h LEFT JOIN event AS e ON e.company_id = h.company_id AND e.sequence = h.event_sequence;
DROP TABLE ledger_head;
ALTER TABLE ledger_head_new RENAME TO ledger_head;

CREATE TABLE ledger_account_new (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    floor_kobo     BIGINT NOT NULL,
    alert_kobo     BIGINT NOT NULL CHECK (alert_kobo >= 0),
    balance_kobo   BIGINT NOT NULL,
    entry_sequence BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (balance_kobo >= floor_kobo)
);
INSERT INTO ledger_account_new (company_id, id, floor_kobo, alert_kobo, balance_kobo, entry_sequence, created_at)
SELECT company_id, id, floor_kobo, 0, balance_kobo, entry_sequence, created_at FROM ledger_account;
DROP TABLE ledger_account;
ALTER TABLE ledger_account_new RENAME TO ledger_account;

-- +goose Down
LOCK TABLE ledger_head, ledger_account IN ACCESS EXCLUSIVE MODE;

CREATE TABLE ledger_account_old (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    floor_kobo     BIGINT NOT NULL,
    balance_kobo   BIGINT NOT NULL,
    entry_sequence BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (balance_kobo >= floor_kobo)
);
INSERT INTO ledger_account_old (company_id, id, floor_kobo, balance_kobo, entry_sequence, created_at)
SELECT company_id, id, floor_kobo, balance_kobo, entry_sequence, created_at FROM ledger_account;
DROP TABLE ledger_account;
ALTER TABLE ledger_account_old RENAME TO ledger_account;

CREATE TABLE ledger_head_old (
    company_id     TEXT   NOT NULL,
    event_sequence BIGINT NOT NULL CHECK (event_sequence >= 0),
    PRIMARY KEY (company_id)
);
INSERT INTO ledger_head_old (company_id, event_sequence) SELECT company_id, event_sequence FROM ledger_head;
DROP TABLE ledger_head;
ALTER TABLE ledger_head_old RENAME TO ledger_head;
