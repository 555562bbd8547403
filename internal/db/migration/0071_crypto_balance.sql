-- kobo: serves 45
-- +goose Up

-- What an address held of its network's native asset when it was last checked, and how
-- many transactions it had sent. The next check compares the balance with the movements
-- since that block. Units are a decimal number, since they are larger than any BIGINT.
CREATE TABLE crypto_balance (
    company_id   TEXT   NOT NULL,
    network_id   TEXT   NOT NULL,
    address      TEXT   NOT NULL,
    block_number BIGINT NOT NULL,
    units        TEXT   NOT NULL,
    sent         BIGINT NOT NULL,
    checked_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, network_id, address)
);

-- The native movements of an address by block.
CREATE INDEX crypto_transaction_native ON crypto_transaction (company_id, address, block_number) WHERE contract = '';

-- +goose Down
DROP INDEX crypto_transaction_native;
DROP TABLE crypto_balance;
