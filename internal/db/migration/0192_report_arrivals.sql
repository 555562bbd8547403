-- kobo: serves 45
-- +goose Up

-- The number of the first event of a company whose credit or deposit on a chain is not counted yet. 0 is before the first
-- count: programs of schema 190 count operations only.
ALTER TABLE report_place ADD COLUMN next_arrival BIGINT NOT NULL DEFAULT 0;

-- The deposits of an asset that arrived in an hour of Lagos, over all companies, by outcome. They are no naira, and their
-- units are larger than any BIGINT.
CREATE TABLE report_coin (
    company_id TEXT   NOT NULL, -- the house, because a row covers all companies
    hour_at    BIGINT NOT NULL,
    network_id TEXT   NOT NULL,
    asset      TEXT   NOT NULL,
    decimals   BIGINT NOT NULL,
    outcome    TEXT   NOT NULL CHECK (outcome IN ('unknown', 'paid', 'failed')),
    deposits   BIGINT NOT NULL,
    units      TEXT   NOT NULL,
    PRIMARY KEY (company_id, hour_at, network_id, asset, decimals, outcome)
);

-- Operators list the deposits of all companies, newest first. An operator of many rows may make the index beforehand,
-- without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS crypto_transaction_newest ON crypto_transaction (created_at, company_id, id);

-- +goose Down
DROP INDEX crypto_transaction_newest;
DROP TABLE report_coin;
ALTER TABLE report_place DROP COLUMN next_arrival;
