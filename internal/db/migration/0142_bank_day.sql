-- kobo: serves 45
-- +goose Up

-- Each whole day of a bank's statement, as the last comparison that covered it has seen it. findings is a JSON list of
-- the day's differences.
CREATE TABLE report_bank_day (
    company_id      TEXT   NOT NULL, -- the house
    provider        TEXT   NOT NULL,
    day             BIGINT NOT NULL, -- the number of days in Lagos since 1970
    run_id          TEXT   NOT NULL,
    line_count      BIGINT NOT NULL,
    in_kobo         BIGINT NOT NULL,
    out_kobo        BIGINT NOT NULL,
    difference_kobo BIGINT NOT NULL, -- the bank's balance less the ledger's, as far as this day changed them
    breaks          BIGINT NOT NULL,
    charges         BIGINT NOT NULL CHECK (charges IN (0, 1)), -- whether the bank's charges of the day were compared
    findings        TEXT   NOT NULL,
    compared_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, provider, day)
);

-- +goose Down
DROP TABLE report_bank_day;
