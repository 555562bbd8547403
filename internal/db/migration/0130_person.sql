-- kobo: serves 45
-- +goose Up

-- The people of companies who sign in. Operators have their rows in operator_key. company is '' for
-- what belongs to an operator. A sign-in finds its rows before any company is known, so these tables
-- are tables of no company, as operator_proposal is.
CREATE TABLE person (
    company    TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    role       TEXT   NOT NULL CHECK (role IN ('viewer', 'finance', 'developer', 'owner')),
    state      TEXT   NOT NULL CHECK (state IN ('ACTIVE', 'ENDED')),
    created_at BIGINT NOT NULL,
    mac        TEXT   NOT NULL,
    PRIMARY KEY (company, id)
);

CREATE UNIQUE INDEX person_working ON person (company, name) WHERE state = 'ACTIVE';

-- What a person proves with who they are. secret is sealed, and '' after the removal. person_id is the
-- id of the row in operator_key or in person.
CREATE TABLE person_credential (
    company    TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    person_id  TEXT   NOT NULL,
    kind       TEXT   NOT NULL CHECK (kind IN ('PASSKEY', 'PASSWORD', 'CODE')),
    label      TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('ACTIVE', 'REMOVED')),
    created_at BIGINT NOT NULL,
    secret     TEXT   NOT NULL,
    step       BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    mac        TEXT   NOT NULL,
    PRIMARY KEY (company, id)
);

CREATE INDEX person_credential_person ON person_credential (company, person_id);

-- A password and a code belong together, and a person has one of each.
CREATE UNIQUE INDEX person_credential_one ON person_credential (company, person_id, kind) WHERE state = 'ACTIVE' AND kind <> 'PASSKEY';

-- Links that a person can use once. digest is the SHA-256 of the link's token. code is the keyed hash
-- of what the approving operator has passed on, or ''.
CREATE TABLE person_link (
    digest     TEXT   NOT NULL,
    company    TEXT   NOT NULL,
    person_id  TEXT   NOT NULL,
    code       TEXT   NOT NULL,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    mac        TEXT   NOT NULL,
    PRIMARY KEY (digest)
);

-- Open sessions. hash is a keyed hash of the token, the person, the role and the instants but the last.
CREATE TABLE person_session (
    company   TEXT   NOT NULL,
    id        TEXT   NOT NULL,
    person_id TEXT   NOT NULL,
    role      TEXT   NOT NULL,
    hash      TEXT   NOT NULL,
    began_at  BIGINT NOT NULL,
    proved_at BIGINT NOT NULL,
    used_at   BIGINT NOT NULL,
    address   TEXT   NOT NULL,
    agent     TEXT   NOT NULL,
    PRIMARY KEY (company, id)
);

CREATE INDEX person_session_person ON person_session (company, person_id);

-- +goose Down
DROP TABLE person_session;
DROP TABLE person_link;
DROP TABLE person_credential;
DROP TABLE person;
