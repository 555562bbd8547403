-- kobo: serves 32
-- +goose Up

-- The OTPs that a company has had sent to one person, whichever of its customers
-- the person is. The subject is the BVN's blind index. The turn guards every change.
CREATE TABLE identity_attempt (
    company_id TEXT   NOT NULL,
    purpose    TEXT   NOT NULL CHECK (purpose IN ('corporate', 'customer')),
    subject    TEXT   NOT NULL,
    turn       TEXT   NOT NULL,
    attempts   BIGINT NOT NULL CHECK (attempts BETWEEN 1 AND 3),
    asked_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, purpose, subject)
);

-- When the guesses of a session are all available again: each one moves it on.
ALTER TABLE identity_session ADD COLUMN guessed_until BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE identity_session DROP COLUMN guessed_until;
DROP TABLE identity_attempt;
