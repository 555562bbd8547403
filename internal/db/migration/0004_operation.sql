-- +goose Up

-- The intent to move money, written down before a provider is asked, and what
-- became of it.
CREATE TABLE operation (
    company_id         TEXT   NOT NULL,
    id                 TEXT   NOT NULL,
    kind               TEXT   NOT NULL,
    idempotency_key    TEXT   NOT NULL,
    state              TEXT   NOT NULL CHECK (state IN ('PENDING', 'SUCCESS', 'FAILED', 'REVERSED')),
    provider           TEXT   NOT NULL,
    settlement_id      BIGINT NOT NULL,
    amount_kobo        BIGINT NOT NULL CHECK (amount_kobo > 0),
    fee_kobo           BIGINT NOT NULL CHECK (fee_kobo >= 0),
    called_until       BIGINT NOT NULL,
    polls              BIGINT NOT NULL,
    missing            BIGINT NOT NULL,
    asked_at           BIGINT NOT NULL,
    next_at            BIGINT NOT NULL,
    outcome            TEXT   NOT NULL,
    code               TEXT   NOT NULL,
    message            TEXT   NOT NULL,
    provider_reference TEXT   NOT NULL,
    token              TEXT   NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX operation_key ON operation (company_id, kind, idempotency_key) WHERE idempotency_key <> '';

-- What is still open, for the list of outcomes and for adding up money in flight.
CREATE INDEX operation_pending ON operation (company_id, id) WHERE state = 'PENDING';

-- A company's operations of one kind, newest first: ids are ordered by time.
CREATE INDEX operation_kind ON operation (company_id, kind, id);

-- What the provider answered, each time that did not settle the operation at
-- once.
CREATE TABLE operation_answer (
    company_id   TEXT   NOT NULL,
    id           TEXT   NOT NULL,
    operation_id TEXT   NOT NULL,
    poll         BIGINT NOT NULL,
    outcome      TEXT   NOT NULL,
    code         TEXT   NOT NULL,
    message      TEXT   NOT NULL,
    reference    TEXT   NOT NULL,
    answered_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE INDEX operation_answer_operation ON operation_answer (company_id, operation_id, id);

-- What a human must decide: about an operation, or about something else that
-- the subject names. While it is open, outcome, note and target are what one
-- operator proposes; a second one makes them true.
CREATE TABLE operation_case (
    company_id        TEXT   NOT NULL,
    id                TEXT   NOT NULL,
    subject           TEXT   NOT NULL,
    reason            TEXT   NOT NULL,
    detail            TEXT   NOT NULL,
    state             TEXT   NOT NULL CHECK (state IN ('OPEN', 'RESOLVED')),
    outcome           TEXT   NOT NULL,
    note              TEXT   NOT NULL,
    target_company    TEXT   NOT NULL,
    target_settlement BIGINT NOT NULL,
    proposed_by       TEXT   NOT NULL,
    resolved_by       TEXT   NOT NULL,
    proposed_at       BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (resolved_by = '' OR resolved_by <> proposed_by)
);

-- One case for each reason in the life of a subject.
CREATE UNIQUE INDEX operation_case_reason ON operation_case (company_id, subject, reason);

-- +goose Down
DROP TABLE operation_case;
DROP TABLE operation_answer;
DROP TABLE operation;
