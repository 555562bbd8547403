-- kobo: serves 45
-- +goose Up

-- The comparisons of the banks' statements with the ledger. The id begins with the time, so its order is that of the
-- comparisons. The findings are a JSON list.
CREATE TABLE report_run (
    company_id TEXT   NOT NULL, -- the house
    id         TEXT   NOT NULL,
    provider   TEXT   NOT NULL,
    from_at    BIGINT NOT NULL,
    to_at      BIGINT NOT NULL,
    line_count BIGINT NOT NULL,
    payments   BIGINT NOT NULL,
    credits    BIGINT NOT NULL,
    breaks     BIGINT NOT NULL,
    undecided  BIGINT NOT NULL,
    findings   TEXT   NOT NULL,
    trouble    TEXT   NOT NULL, -- why the comparison failed
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE INDEX report_run_provider ON report_run (company_id, provider, id);

-- +goose Down
DROP TABLE report_run;
