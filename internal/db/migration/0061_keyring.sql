-- kobo: serves 45
-- +goose Up

-- The lock under which programs state the keys that they hold, and choose the key
-- with which they write.
CREATE TABLE keyring (
    ring  TEXT   NOT NULL,
    turns BIGINT NOT NULL,
    PRIMARY KEY (ring)
);

-- The running programs: the ids of the keys that each one holds, separated by
-- commas, and the key with which it writes.
CREATE TABLE keyring_program (
    ring    TEXT   NOT NULL,
    id      TEXT   NOT NULL,
    name    TEXT   NOT NULL,
    holds   TEXT   NOT NULL,
    writes  TEXT   NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (ring, id)
);

-- The keys with which this database was written, and when: the first time, the last
-- time, and the last use of a callback address that follows from the key. A key that
-- is not removed must be in the keyring of each program. What is left of a key at
-- revoke_at is revoked. 0 means never.
CREATE TABLE keyring_line (
    ring        TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    first_at    BIGINT NOT NULL,
    last_at     BIGINT NOT NULL,
    callback_at BIGINT NOT NULL,
    revoke_at   BIGINT NOT NULL,
    told_at     BIGINT NOT NULL,
    revoked_at  BIGINT NOT NULL,
    removed_at  BIGINT NOT NULL,
    PRIMARY KEY (ring, id)
);

-- How far kobo rekey has come: the last row of each table that it has read. The rows
-- up to there were sealed with this key.
CREATE TABLE keyring_progress (
    place   TEXT   NOT NULL,
    key_id  TEXT   NOT NULL,
    company TEXT   NOT NULL,
    row_id  TEXT   NOT NULL,
    PRIMARY KEY (place)
);

-- Programs of older schemas do not state when they last signed a token with a key.
-- It was not after the newest refresh token.
INSERT INTO keyring_line (ring, id, first_at, last_at, callback_at, revoke_at, told_at, revoked_at, removed_at)
SELECT 'master', key_id, seen_at, (SELECT coalesce(max(issued_at), 0) FROM company_refresh_token), 0, 0, 0, 0, 0
FROM operator_keyring;

-- +goose Down
DROP TABLE keyring_progress;
DROP TABLE keyring_line;
DROP TABLE keyring_program;
DROP TABLE keyring;
