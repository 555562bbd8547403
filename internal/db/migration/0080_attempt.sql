-- kobo: serves 45
-- +goose Up

-- The number of the operation's last attempt. 0 means that there is one attempt, which the
-- operation's own row describes.
ALTER TABLE operation ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;

-- The attempts of an operation that has moved to a second provider. OPEN is the last attempt of a
-- PENDING operation. An UNSTARTED attempt definitely never started at its provider. The last attempt
-- is ENDED when the operation has its outcome.
CREATE TABLE operation_attempt (
    company_id   TEXT   NOT NULL,
    operation_id TEXT   NOT NULL,
    attempt      BIGINT NOT NULL CHECK (attempt > 0),
    provider     TEXT   NOT NULL,
    reference    TEXT   NOT NULL,
    cost_kobo    BIGINT NOT NULL CHECK (cost_kobo > 0),
    state        TEXT   NOT NULL CHECK (state IN ('OPEN', 'UNSTARTED', 'ENDED')),
    outcome      TEXT   NOT NULL,
    code         TEXT   NOT NULL,
    message      TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, operation_id, attempt),
    UNIQUE (company_id, reference),
    FOREIGN KEY (company_id, operation_id) REFERENCES operation (company_id, id)
);

-- +goose Down
DROP TABLE operation_attempt;
ALTER TABLE operation DROP COLUMN attempt;
