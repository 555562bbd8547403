-- kobo: serves 45
-- +goose Up

-- The fees that a company pays and the charges of providers for it, by day of Lagos, kind of operation and provider.
-- A returned fee counts below zero on the day of its return. The rows follow from the entries of the accounts fee and
-- charge/... A row of the house has the charges that belong to no company.
CREATE TABLE report_revenue (
    company_id TEXT   NOT NULL,
    day        BIGINT NOT NULL, -- the number of days in Lagos since 1970
    kind       TEXT   NOT NULL, -- '' for an entry without an operation
    provider   TEXT   NOT NULL,
    fee_kobo   BIGINT NOT NULL,
    fees       BIGINT NOT NULL,
    cost_kobo  BIGINT NOT NULL,
    costs      BIGINT NOT NULL,
    PRIMARY KEY (company_id, day, kind, provider)
);

-- The sums of report_revenue over all companies.
CREATE TABLE report_revenue_total (
    company_id TEXT   NOT NULL, -- the house, because a row covers all companies
    day        BIGINT NOT NULL,
    kind       TEXT   NOT NULL,
    provider   TEXT   NOT NULL,
    fee_kobo   BIGINT NOT NULL,
    fees       BIGINT NOT NULL,
    cost_kobo  BIGINT NOT NULL,
    costs      BIGINT NOT NULL,
    PRIMARY KEY (company_id, day, kind, provider)
);

-- The number of the last entry of each account in the sums.
CREATE TABLE report_revenue_place (
    company_id TEXT   NOT NULL,
    account_id TEXT   NOT NULL,
    sequence   BIGINT NOT NULL,
    PRIMARY KEY (company_id, account_id)
);

-- When the last round began that has read the accounts of all companies.
CREATE TABLE report_revenue_round (
    company_id TEXT   NOT NULL, -- the house
    began_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id)
);

-- +goose Down
DROP TABLE report_revenue_round;
DROP TABLE report_revenue_place;
DROP TABLE report_revenue_total;
DROP TABLE report_revenue;
