-- +goose Up

-- The durable to-do list. A row is work that is not done yet; who holds an
-- unexpired lease works on it, and finishes it only with the fence it was
-- handed.
CREATE TABLE job (
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

-- One live job of a kind for each subject: a second request for the same work
-- is the same work.
CREATE UNIQUE INDEX job_live ON job (company_id, kind, subject);

-- What is due, over all companies: the worker's scan.
CREATE INDEX job_due ON job (run_at);

-- +goose Down
DROP TABLE job;
