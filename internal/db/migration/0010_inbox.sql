-- +goose Up

-- What providers sent us of their own accord, as it came. The company is always
-- the house; the id is a keyed hash of what was received, so that the same
-- notification sent again is the same row. The body is sealed: it may hold a
-- person's BVN.
CREATE TABLE inbox_notification (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    provider    TEXT   NOT NULL,
    body        TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('NEW', 'WORKED', 'IGNORED', 'CASE')),
    detail      TEXT   NOT NULL,
    received_at BIGINT NOT NULL,
    worked_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- The oldest first, for clearing out.
CREATE INDEX inbox_notification_received ON inbox_notification (company_id, received_at);

-- How far the list of a provider's credits has been compared with our books. A
-- round that is not finished goes on at its page; the next one begins where
-- this one may stop looking: at the round's begin, or at the oldest credit with
-- which the bank was not done.
CREATE TABLE inbox_sweep (
    company_id  TEXT   NOT NULL,
    provider    TEXT   NOT NULL,
    done_until  BIGINT NOT NULL,
    round_at    BIGINT NOT NULL,
    page        BIGINT NOT NULL,
    next_until  BIGINT NOT NULL,
    PRIMARY KEY (company_id, provider)
);

-- +goose Down
DROP TABLE inbox_sweep;
DROP TABLE inbox_notification;
