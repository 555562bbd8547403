-- The tables of hot_row.sql: the shape of a unit's paperwork, without Kobo.
CREATE TABLE naive_account (id int PRIMARY KEY, balance bigint NOT NULL, sequence bigint NOT NULL);
CREATE TABLE naive_operation (id uuid PRIMARY KEY, key text NOT NULL UNIQUE, state text NOT NULL, amount bigint NOT NULL, created_at bigint NOT NULL);
CREATE TABLE naive_transfer (id uuid PRIMARY KEY, debit int NOT NULL, credit int NOT NULL, amount bigint NOT NULL);
CREATE TABLE naive_entry (account int NOT NULL, sequence bigint NOT NULL, transfer uuid NOT NULL, amount bigint NOT NULL, previous bigint NOT NULL, current bigint NOT NULL, PRIMARY KEY (account, sequence));
CREATE TABLE naive_event (sequence bigserial PRIMARY KEY, kind text NOT NULL, data text NOT NULL);
CREATE TABLE naive_job (id uuid PRIMARY KEY, kind text NOT NULL, run_at bigint NOT NULL);
INSERT INTO naive_account VALUES (1, 1000000000000, 0), (2, 0, 0);
