-- kobo: serves 45
-- +goose Up

-- The bulk payouts of companies: many payouts that a company confirms at once. The payouts of a
-- confirmed bulk payout begin with its confirmation. Kobo sends them until send_until.
CREATE TABLE payout_bulk (
    company_id    TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('CHECKING', 'CHECKED', 'CONFIRMED', 'COMPLETED', 'CANCELLED')),
    settlement_id BIGINT NOT NULL,
    provider      TEXT   NOT NULL,
    credentials   BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    checked_at    BIGINT NOT NULL,
    confirmed_at  BIGINT NOT NULL,
    send_until    BIGINT NOT NULL,
    ended_at      BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- The lines of bulk payouts. The reference is the ID of the payout that the line becomes. The line
-- has it from the beginning.
CREATE TABLE payout_bulk_line (
    company_id         TEXT   NOT NULL,
    bulk_id            TEXT   NOT NULL,
    line               BIGINT NOT NULL CHECK (line > 0),
    verdict            TEXT   NOT NULL CHECK (verdict IN ('CHECKING', 'GOOD', 'BAD')),
    reference          TEXT   NOT NULL,
    bank_code          TEXT   NOT NULL,
    account_number     TEXT   NOT NULL,
    amount_kobo        BIGINT NOT NULL CHECK (amount_kobo > 0),
    narration          TEXT   NOT NULL,
    external_reference TEXT   NOT NULL,
    metadata           TEXT   NOT NULL,
    bank_name          TEXT   NOT NULL,
    account_name       TEXT   NOT NULL,
    session            TEXT   NOT NULL,
    named_at           BIGINT NOT NULL,
    attempts           BIGINT NOT NULL,
    reason             TEXT   NOT NULL,
    PRIMARY KEY (company_id, bulk_id, line),
    FOREIGN KEY (company_id, bulk_id) REFERENCES payout_bulk (company_id, id)
);

-- +goose Down
DROP TABLE payout_bulk_line;
DROP TABLE payout_bulk;
