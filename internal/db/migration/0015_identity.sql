-- +goose Up

-- Somebody whose identity is being proven by an OTP. While it is not proven the
-- subject says what it is about, and there is one session for each. The BVN is
-- sealed. The turn counts the OTPs asked for, and guards every change.
CREATE TABLE identity_session (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    purpose    TEXT   NOT NULL CHECK (purpose IN ('corporate', 'customer')),
    subject    TEXT   NOT NULL,
    bvn        TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('PENDING', 'OTP_SENT', 'VERIFIED')),
    turn       TEXT   NOT NULL,
    attempts   BIGINT NOT NULL CHECK (attempts BETWEEN 1 AND 3),
    reference  TEXT   NOT NULL,
    asked_at   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX identity_session_subject ON identity_session (company_id, purpose, subject) WHERE subject <> '';

-- +goose Down
DROP TABLE identity_session;
