-- +goose Up

-- A business that uses Kobo. Its reference is the company_id of every row it
-- owns.
CREATE TABLE company (
    company_id TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    kyb_status TEXT   NOT NULL CHECK (kyb_status IN
        ('NOT_STARTED', 'IN_PROGRESS', 'SUBMITTED', 'CHANGES_REQUESTED', 'REJECTED', 'APPROVED')),
    live       BIGINT NOT NULL CHECK (live IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (company_id)
);

-- An API key, of which only a keyed hash is kept. expires_at 0: never.
CREATE TABLE company_api_key (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('ACTIVE', 'REVOKED')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id) REFERENCES company (company_id)
);

-- The one refresh token of a company that works: the latest, and the API key it
-- was had for.
CREATE TABLE company_refresh_token (
    company_id TEXT   NOT NULL,
    token_id   TEXT   NOT NULL,
    api_key_id TEXT   NOT NULL,
    issued_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id),
    FOREIGN KEY (company_id, api_key_id) REFERENCES company_api_key (company_id, id)
);

-- The transaction PIN's keyed hash, and the wrong tries since the last right one.
CREATE TABLE company_pin (
    company_id TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('SET', 'LOCKED')),
    failures   BIGINT NOT NULL CHECK (failures >= 0),
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (company_id),
    FOREIGN KEY (company_id) REFERENCES company (company_id)
);

-- +goose Down
DROP TABLE company_pin;
DROP TABLE company_refresh_token;
DROP TABLE company_api_key;
DROP TABLE company;
