-- +goose Up
LOCK TABLE operation_case IN ACCESS EXCLUSIVE MODE;

-- A case that comes from the bank's statement says by how much bank and book
-- differ (the bank's less ours) and when it happened at the bank; 0 for what
-- no case from before this says. And what was settled by booking it may differ
-- anew: that is a case of its own, the next turn of its subject and reason.
CREATE TABLE operation_case_new (
    company_id        TEXT   NOT NULL,
    id                TEXT   NOT NULL,
    subject           TEXT   NOT NULL,
    reason            TEXT   NOT NULL,
    turn              BIGINT NOT NULL CHECK (turn >= 0),
    detail            TEXT   NOT NULL,
    amount_kobo       BIGINT NOT NULL,
    state             TEXT   NOT NULL CHECK (state IN ('OPEN', 'RESOLVED')),
    outcome           TEXT   NOT NULL,
    note              TEXT   NOT NULL,
    target_company    TEXT   NOT NULL,
    target_settlement BIGINT NOT NULL,
    proposed_by       TEXT   NOT NULL,
    resolved_by       TEXT   NOT NULL,
    proposed_at       BIGINT NOT NULL,
    happened_at       BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (resolved_by = '' OR resolved_by <> proposed_by)
);
INSERT INTO operation_case_new (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
    target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
SELECT company_id, id, subject, reason, 0, detail, 0, state, outcome, note, target_company,
    target_settlement, proposed_by, resolved_by, proposed_at, 0, created_at, updated_at FROM operation_case;
DROP TABLE operation_case;
ALTER TABLE operation_case_new RENAME TO operation_case;
CREATE UNIQUE INDEX operation_case_reason ON operation_case (company_id, subject, reason, turn);

-- +goose Down
LOCK TABLE operation_case IN ACCESS EXCLUSIVE MODE;

CREATE TABLE operation_case_old (
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
INSERT INTO operation_case_old (company_id, id, subject, reason, detail, state, outcome, note, target_company,
    target_settlement, proposed_by, resolved_by, proposed_at, created_at, updated_at)
SELECT company_id, id, CASE WHEN turn = 0 THEN subject ELSE subject || ' ' || CAST(turn AS TEXT) END, reason, detail, state, outcome, note,
    target_company, target_settlement, proposed_by, resolved_by, proposed_at, created_at, updated_at FROM operation_case;
DROP TABLE operation_case;
ALTER TABLE operation_case_old RENAME TO operation_case;
CREATE UNIQUE INDEX operation_case_reason ON operation_case (company_id, subject, reason);
