-- +goose Up
LOCK TABLE ledger_transfer, ledger_entry, job IN ACCESS EXCLUSIVE MODE;

-- Each commit writes fewer and smaller indexes. A table's primary key cannot be
-- changed on both engines, so three tables are made anew.

-- A transfer is named by what it belongs to and by its step there: the look-up of
-- what became of a reference is one by the primary key, and a step that was taken
-- is not taken again. The stamp is a number that only the commit that wrote the
-- row can have drawn. What was written before keeps its own id as its step.
CREATE TABLE ledger_transfer_new (
    company_id     TEXT   NOT NULL,
    reference      TEXT   NOT NULL,
    step           TEXT   NOT NULL,
    debit_account  TEXT   NOT NULL,
    credit_account TEXT   NOT NULL,
    amount_kobo    BIGINT NOT NULL CHECK (amount_kobo > 0),
    kind           TEXT   NOT NULL,
    narration      TEXT   NOT NULL,
    debit_entry    BIGINT NOT NULL,
    credit_entry   BIGINT NOT NULL,
    stamp          BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, reference, step),
    CHECK (debit_account <> credit_account)
);
INSERT INTO ledger_transfer_new (company_id, reference, step, debit_account, credit_account, amount_kobo,
    kind, narration, debit_entry, credit_entry, stamp, created_at)
SELECT company_id, reference, CASE WHEN id = reference THEN '' ELSE id END, debit_account, credit_account, amount_kobo,
    kind, narration, debit_entry, credit_entry, 0, created_at FROM ledger_transfer;

CREATE TABLE ledger_entry_new (
    company_id    TEXT   NOT NULL,
    account_id    TEXT   NOT NULL,
    sequence      BIGINT NOT NULL,
    reference     TEXT   NOT NULL,
    step          TEXT   NOT NULL,
    amount_kobo   BIGINT NOT NULL,
    previous_kobo BIGINT NOT NULL,
    current_kobo  BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, account_id, sequence),
    CHECK (current_kobo = previous_kobo + amount_kobo)
);
INSERT INTO ledger_entry_new (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at)
SELECT e.company_id, e.account_id, e.sequence, coalesce(t.reference, ''), CASE WHEN t.id = t.reference THEN '' ELSE e.transfer_id END,
    e.amount_kobo, e.previous_kobo, e.current_kobo, e.created_at
FROM ledger_entry AS e LEFT JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.id = e.transfer_id;
DROP TABLE ledger_entry;
ALTER TABLE ledger_entry_new RENAME TO ledger_entry;
DROP TABLE ledger_transfer;
ALTER TABLE ledger_transfer_new RENAME TO ledger_transfer;

-- One live job of a kind for each subject is what a job is, so that is its key.
-- The id keeps a worker that was too slow from finishing a later one.
CREATE TABLE job_new (
    company_id  TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    subject     TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    run_at      BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    fence       BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    last_error  TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, kind, subject)
);
INSERT INTO job_new (company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at)
SELECT company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at FROM job;
DROP TABLE job;
ALTER TABLE job_new RENAME TO job;
CREATE INDEX job_due ON job (run_at);

-- Each kind has a table of its own beside the operations, in the same order.
DROP INDEX operation_kind;

-- +goose Down
LOCK TABLE ledger_transfer, ledger_entry, job IN ACCESS EXCLUSIVE MODE;

CREATE INDEX operation_kind ON operation (company_id, kind, id);

CREATE TABLE job_old (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    subject     TEXT   NOT NULL,
    run_at      BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    fence       BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    last_error  TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);
INSERT INTO job_old (company_id, id, kind, subject, run_at, lease_until, fence, attempts, last_error, created_at)
SELECT company_id, id, kind, subject, run_at, lease_until, fence, attempts, last_error, created_at FROM job;
DROP TABLE job;
ALTER TABLE job_old RENAME TO job;
CREATE UNIQUE INDEX job_live ON job (company_id, kind, subject);
CREATE INDEX job_due ON job (run_at);

CREATE TABLE ledger_transfer_old (
    company_id     TEXT   NOT NULL,
    id             TEXT   NOT NULL,
    debit_account  TEXT   NOT NULL,
    credit_account TEXT   NOT NULL,
    amount_kobo    BIGINT NOT NULL CHECK (amount_kobo > 0),
    kind           TEXT   NOT NULL,
    reference      TEXT   NOT NULL,
    narration      TEXT   NOT NULL,
    debit_entry    BIGINT NOT NULL,
    credit_entry   BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (debit_account <> credit_account)
);
INSERT INTO ledger_transfer_old (company_id, id, debit_account, credit_account, amount_kobo, kind, reference, narration,
    debit_entry, credit_entry, created_at)
SELECT company_id, CASE WHEN step = '' THEN reference ELSE reference || '/' || step END, debit_account, credit_account, amount_kobo,
    kind, reference, narration, debit_entry, credit_entry, created_at FROM ledger_transfer;
DROP TABLE ledger_transfer;
ALTER TABLE ledger_transfer_old RENAME TO ledger_transfer;
CREATE INDEX ledger_transfer_reference ON ledger_transfer (company_id, reference);

CREATE TABLE ledger_entry_old (
    company_id    TEXT   NOT NULL,
    account_id    TEXT   NOT NULL,
    sequence      BIGINT NOT NULL,
    transfer_id   TEXT   NOT NULL,
    amount_kobo   BIGINT NOT NULL,
    previous_kobo BIGINT NOT NULL,
    current_kobo  BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, account_id, sequence),
    CHECK (current_kobo = previous_kobo + amount_kobo)
);
INSERT INTO ledger_entry_old (company_id, account_id, sequence, transfer_id, amount_kobo, previous_kobo, current_kobo, created_at)
SELECT company_id, account_id, sequence, CASE WHEN step = '' THEN reference ELSE reference || '/' || step END,
    amount_kobo, previous_kobo, current_kobo, created_at FROM ledger_entry;
DROP TABLE ledger_entry;
ALTER TABLE ledger_entry_old RENAME TO ledger_entry;
