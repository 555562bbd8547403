-- +goose Up
LOCK TABLE settlement_adjustment IN ACCESS EXCLUSIVE MODE;

-- A correction may also be turned down, and who decided stays with it either
-- way. Who asked may take it back, and never approve it.
CREATE TABLE settlement_adjustment_next (
    company_id    TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    settlement_id BIGINT NOT NULL,
    amount_kobo   BIGINT NOT NULL CHECK (amount_kobo > 0),
    direction     TEXT   NOT NULL CHECK (direction IN ('credit', 'debit')),
    reason        TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('PENDING', 'APPROVED', 'REJECTED')),
    created_by    TEXT   NOT NULL,
    decided_by    TEXT   NOT NULL,
    note          TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    decided_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, settlement_id) REFERENCES settlement_account (company_id, id),
    CHECK (state <> 'APPROVED' OR created_by <> decided_by),
    CHECK ((state = 'PENDING') = (decided_by = ''))
);

INSERT INTO settlement_adjustment_next (company_id, id, settlement_id, amount_kobo, direction, reason, state,
    created_by, decided_by, note, created_at, decided_at)
SELECT company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, approved_by, '', created_at, approved_at
FROM settlement_adjustment;

DROP TABLE settlement_adjustment;

ALTER TABLE settlement_adjustment_next RENAME TO settlement_adjustment;

-- +goose Down
LOCK TABLE settlement_adjustment IN ACCESS EXCLUSIVE MODE;

CREATE TABLE settlement_adjustment_before (
    company_id    TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    settlement_id BIGINT NOT NULL,
    amount_kobo   BIGINT NOT NULL CHECK (amount_kobo > 0),
    direction     TEXT   NOT NULL CHECK (direction IN ('credit', 'debit')),
    reason        TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('PENDING', 'APPROVED')),
    created_by    TEXT   NOT NULL,
    approved_by   TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    approved_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, settlement_id) REFERENCES settlement_account (company_id, id),
    CHECK (created_by <> approved_by)
);

INSERT INTO settlement_adjustment_before (company_id, id, settlement_id, amount_kobo, direction, reason, state,
    created_by, approved_by, created_at, approved_at)
SELECT company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, created_at, decided_at
FROM settlement_adjustment WHERE state <> 'REJECTED';

DROP TABLE settlement_adjustment;

ALTER TABLE settlement_adjustment_before RENAME TO settlement_adjustment;
