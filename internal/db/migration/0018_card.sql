-- +goose Up

-- A customer as the issuer knows them. BUSY while a card is being created for
-- them: one at a time, so that a card whose answer was lost can be told from the
-- others.
CREATE TABLE card_holder (
    company_id  TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('FREE', 'BUSY')),
    provider    TEXT   NOT NULL,
    provider_id TEXT   NOT NULL,
    card_id     TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id)
);

-- A card, written down before the issuer is asked for it. There is no column for
-- a card number.
CREATE TABLE card (
    company_id       TEXT   NOT NULL,
    id               TEXT   NOT NULL,
    customer_id      TEXT   NOT NULL,
    state            TEXT   NOT NULL CHECK (state IN ('CREATING', 'ISSUED', 'FAILED')),
    provider         TEXT   NOT NULL,
    provider_card_id TEXT   NOT NULL,
    account          TEXT   NOT NULL,
    kind             TEXT   NOT NULL CHECK (kind IN ('virtual', 'physical')),
    brand            TEXT   NOT NULL,
    currency         TEXT   NOT NULL,
    masked_pan       TEXT   NOT NULL,
    expiry_month     TEXT   NOT NULL,
    expiry_year      TEXT   NOT NULL,
    status           TEXT   NOT NULL,
    message          TEXT   NOT NULL,
    load_kobo        BIGINT NOT NULL CHECK (load_kobo >= 0),
    called_until     BIGINT NOT NULL,
    missing          BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- The list: newest first, of all customers or of one. Ids are ordered by time.
CREATE INDEX card_issued ON card (company_id, id) WHERE state = 'ISSUED';

CREATE INDEX card_customer ON card (company_id, customer_id, id);

-- Whose a card is, for an issuer that names only its own id. Not a company's
-- data, so no company first.
CREATE TABLE card_directory (
    provider         TEXT   NOT NULL,
    provider_card_id TEXT   NOT NULL,
    company_id       TEXT   NOT NULL,
    card_id          TEXT   NOT NULL,
    PRIMARY KEY (provider, provider_card_id)
);

-- What a funding is for, beside the operation of the same id, which has its
-- outcome. OPEN while that is not known.
CREATE TABLE card_funding (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    card_id     TEXT   NOT NULL,
    amount_kobo BIGINT NOT NULL CHECK (amount_kobo > 0),
    state       TEXT   NOT NULL CHECK (state IN ('OPEN', 'CLOSED')),
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, card_id) REFERENCES card (company_id, id)
);

CREATE INDEX card_funding_open ON card_funding (company_id, card_id, amount_kobo, id) WHERE state = 'OPEN';

-- What the issuer told of a card, once each.
CREATE TABLE card_activity (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    card_id     TEXT   NOT NULL,
    word        TEXT   NOT NULL,
    amount_kobo BIGINT NOT NULL,
    happened_at BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, card_id) REFERENCES card (company_id, id)
);

-- The company's own address, for customers who have none. The latest counts.
CREATE TABLE card_address (
    company_id  TEXT   NOT NULL,
    version     TEXT   NOT NULL,
    line1       TEXT   NOT NULL,
    line2       TEXT   NOT NULL,
    city        TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    country     TEXT   NOT NULL,
    postal_code TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, version)
);

-- +goose Down
DROP TABLE card_address;
DROP TABLE card_activity;
DROP TABLE card_funding;
DROP TABLE card_directory;
DROP TABLE card;
DROP TABLE card_holder;
