-- kobo: serves 45
-- +goose Up

-- Genuine notifications of a custodian whose meaning is unknown. They are read again when
-- the program starts, because a later release or configuration may know the meaning.
CREATE TABLE crypto_notice (
    company_id  TEXT   NOT NULL, -- the house
    custody     TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    body        TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('NEW', 'READ')),
    received_at BIGINT NOT NULL,
    read_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, custody, id)
);

CREATE INDEX crypto_notice_new ON crypto_notice (company_id, custody, id) WHERE state = 'NEW';

-- +goose Down
DROP TABLE crypto_notice;
