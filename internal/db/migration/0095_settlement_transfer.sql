-- kobo: serves 45
-- +goose Up

-- The transfers between two settlement accounts of a company. The transfer in the ledger has the
-- same ID, and the narration.
CREATE TABLE settlement_transfer (
    company_id  TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    from_id     BIGINT NOT NULL,
    to_id       BIGINT NOT NULL,
    amount_kobo BIGINT NOT NULL CHECK (amount_kobo > 0),
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK (from_id <> to_id)
);

-- +goose Down
DROP TABLE settlement_transfer;
