-- kobo: serves 45
-- +goose Up

-- The payouts, purchases and card fundings that began in an hour of Lagos, over all companies, by outcome. The
-- counts follow from the events of the companies.
CREATE TABLE report_hour (
    company_id  TEXT   NOT NULL, -- the house, because a row covers all companies
    hour_at     BIGINT NOT NULL,
    kind        TEXT   NOT NULL,
    provider    TEXT   NOT NULL,
    outcome     TEXT   NOT NULL CHECK (outcome IN ('unknown', 'paid', 'failed', 'reversed')),
    operations  BIGINT NOT NULL,
    amount_kobo BIGINT NOT NULL,
    PRIMARY KEY (company_id, hour_at, kind, provider, outcome)
);

-- The number of each company's last event in the counts. Events about operations from before since_at do not count.
CREATE TABLE report_place (
    company_id TEXT   NOT NULL,
    sequence   BIGINT NOT NULL,
    since_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id)
);

-- The operations that count as unknown, with the row of report_hour that counts them.
CREATE TABLE report_open (
    company_id   TEXT   NOT NULL,
    operation_id TEXT   NOT NULL,
    hour_at      BIGINT NOT NULL,
    kind         TEXT   NOT NULL,
    provider     TEXT   NOT NULL,
    amount_kobo  BIGINT NOT NULL,
    PRIMARY KEY (company_id, operation_id)
);

-- +goose Down
DROP TABLE report_open;
DROP TABLE report_place;
DROP TABLE report_hour;
