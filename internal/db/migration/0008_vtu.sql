-- +goose Up

-- What is on sale: the billers' lists under ids of our own. Not a company's
-- data, so no company_id. A service is the same whoever sells it; a category is
-- one biller's.
CREATE TABLE vtu_service (
    id         TEXT   NOT NULL,
    kind       TEXT   NOT NULL CHECK (kind IN ('AIRTIME', 'DATA', 'CABLE_TV', 'UTILITY')),
    name       TEXT   NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX vtu_service_kind ON vtu_service (kind);

CREATE TABLE vtu_category (
    id         TEXT   NOT NULL,
    service_id TEXT   NOT NULL REFERENCES vtu_service (id),
    provider   TEXT   NOT NULL,
    code       TEXT   NOT NULL,
    vendor     TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    active     BIGINT NOT NULL CHECK (active IN (0, 1)),
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX vtu_category_code ON vtu_category (service_id, provider, code);

CREATE TABLE vtu_product (
    id           TEXT   NOT NULL,
    category_id  TEXT   NOT NULL REFERENCES vtu_category (id),
    code         TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    validity     TEXT   NOT NULL,
    amount_kobo  BIGINT NOT NULL CHECK (amount_kobo >= 0),
    fixed_amount BIGINT NOT NULL CHECK (fixed_amount IN (0, 1)),
    active       BIGINT NOT NULL CHECK (active IN (0, 1)),
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX vtu_product_code ON vtu_product (category_id, code);

-- When a biller's list was last taken over.
CREATE TABLE vtu_sync (
    provider   TEXT   NOT NULL,
    due_at     BIGINT NOT NULL,
    PRIMARY KEY (provider)
);

-- What was bought, beside the operation of the same id, which has its money and
-- its state.
CREATE TABLE vtu_purchase (
    company_id      TEXT   NOT NULL,
    id              TEXT   NOT NULL,
    kind            TEXT   NOT NULL CHECK (kind IN ('AIRTIME', 'DATA', 'CABLE_TV', 'UTILITY')),
    category_id     TEXT   NOT NULL,
    product_id      TEXT   NOT NULL,
    product_name    TEXT   NOT NULL,
    phone_number    TEXT   NOT NULL,
    card_number     TEXT   NOT NULL,
    meter_number    TEXT   NOT NULL,
    verification_id TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- Whose a smartcard or a meter is. Used by the purchase it serves, in the commit
-- that debits it.
CREATE TABLE vtu_verification (
    company_id      TEXT   NOT NULL,
    id              TEXT   NOT NULL,
    category_id     TEXT   NOT NULL,
    kind            TEXT   NOT NULL CHECK (kind IN ('CABLE_TV', 'UTILITY')),
    entity_number   TEXT   NOT NULL,
    customer_name   TEXT   NOT NULL,
    address         TEXT   NOT NULL,
    current_package TEXT   NOT NULL,
    due_date        TEXT   NOT NULL,
    vend_type       TEXT   NOT NULL,
    renewal_kobo    BIGINT NOT NULL CHECK (renewal_kobo >= 0),
    least_kobo      BIGINT NOT NULL CHECK (least_kobo >= 0),
    most_kobo       BIGINT NOT NULL CHECK (most_kobo >= 0),
    state           TEXT   NOT NULL CHECK (state IN ('UNUSED', 'USED')),
    purchase_id     TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- +goose Down
DROP TABLE vtu_verification;
DROP TABLE vtu_purchase;
DROP TABLE vtu_sync;
DROP TABLE vtu_product;
DROP TABLE vtu_category;
DROP TABLE vtu_service;
