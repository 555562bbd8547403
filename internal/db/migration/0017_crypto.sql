-- +goose Up

-- The extended public keys of a company, below which its addresses are. A kind of
-- network has one at a time: the highest version. Earlier ones keep the addresses
-- they made.
CREATE TABLE crypto_key (
    company_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    kind       TEXT   NOT NULL CHECK (kind IN ('evm', 'tron', 'bitcoin')),
    version    BIGINT NOT NULL CHECK (version > 0),
    xpub       TEXT   NOT NULL,
    source     TEXT   NOT NULL CHECK (source IN ('operator', 'house')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- Whose an extended public key is, entered before it is used: two companies with
-- one key would have the same addresses.
CREATE TABLE crypto_owner (
    xpub       TEXT NOT NULL,
    company_id TEXT NOT NULL,
    PRIMARY KEY (xpub)
);

-- Small integers for the whole installation, by name: the ids of transactions,
-- and which chain below the house's key is whose.
CREATE TABLE crypto_number (
    name TEXT   NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (name)
);

-- An address, under the index that is its alone. It is shown once it is watched.
CREATE TABLE crypto_address (
    company_id    TEXT   NOT NULL,
    key_id        TEXT   NOT NULL,
    address_index BIGINT NOT NULL CHECK (address_index >= 0),
    network_id    TEXT   NOT NULL,
    address       TEXT   NOT NULL,
    label         TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('RESERVED', 'WATCHED')),
    custody       TEXT   NOT NULL,
    reference     TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, key_id, address_index),
    FOREIGN KEY (company_id, key_id) REFERENCES crypto_key (company_id, id)
);

CREATE INDEX crypto_address_network ON crypto_address (company_id, network_id, created_at);

-- Whose an address is, for a movement that names only the address (folded:
-- without the case of letters where that means nothing).
CREATE TABLE crypto_directory (
    network_id TEXT NOT NULL,
    address    TEXT NOT NULL,
    company_id TEXT NOT NULL,
    PRIMARY KEY (network_id, address)
);

-- What came to an address or left it. The same movement has the same "seen"
-- however often and by whomever it is told; it has another attempt only when it
-- had failed and happened after all. Units are the asset's smallest, as a decimal
-- number, since they are larger than any BIGINT.
CREATE TABLE crypto_transaction (
    company_id   TEXT   NOT NULL,
    id           BIGINT NOT NULL,
    seen         TEXT   NOT NULL,
    attempt      BIGINT NOT NULL CHECK (attempt > 0),
    kind         TEXT   NOT NULL CHECK (kind IN ('deposit', 'withdrawal')),
    state        TEXT   NOT NULL CHECK (state IN ('pending', 'completed', 'failed')),
    network_id   TEXT   NOT NULL,
    asset        TEXT   NOT NULL,
    contract     TEXT   NOT NULL,
    decimals     BIGINT NOT NULL,
    units        TEXT   NOT NULL,
    address      TEXT   NOT NULL,
    counter      TEXT   NOT NULL,
    tx_hash      TEXT   NOT NULL,
    block_number BIGINT NOT NULL,
    block_hash   TEXT   NOT NULL,
    custody      TEXT   NOT NULL,
    misses       BIGINT NOT NULL,
    lost_at      BIGINT NOT NULL,
    raw          TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX crypto_transaction_seen ON crypto_transaction (company_id, seen, attempt);
CREATE INDEX crypto_transaction_hash ON crypto_transaction (company_id, tx_hash);

-- What was in a block that is gone, over all companies.
CREATE INDEX crypto_transaction_block ON crypto_transaction (network_id, block_hash) WHERE block_hash <> '';

-- How far a custodian was read, and which program is reading it now.
CREATE TABLE crypto_cursor (
    custody     TEXT   NOT NULL,
    cursor      TEXT   NOT NULL,
    reader      TEXT   NOT NULL,
    lease_until BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (custody)
);

-- +goose Down
DROP TABLE crypto_cursor;
DROP TABLE crypto_transaction;
DROP TABLE crypto_directory;
DROP TABLE crypto_address;
DROP TABLE crypto_number;
DROP TABLE crypto_owner;
DROP TABLE crypto_key;
