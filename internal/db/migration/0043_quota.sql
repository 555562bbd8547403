-- kobo: serves 32
-- +goose Up

-- How many of a kind (OTPs, settlement accounts …) a company may begin on one day
-- in Lagos, where operators have set the number. 0 is no limit. The latest version
-- counts.
CREATE TABLE quota (
    company_id TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    version    TEXT   NOT NULL,
    most       BIGINT NOT NULL CHECK (most >= 0),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, kind, version)
);

-- +goose Down
DROP TABLE quota;
