-- kobo: serves 45
-- +goose Up

-- From which amount on the payouts that people of a company ask for wait for a second person. Without a row none waits.
CREATE TABLE company_payout_rule (
    company_id TEXT   NOT NULL,
    state      TEXT   NOT NULL CHECK (state IN ('ON', 'OFF')),
    least_kobo BIGINT NOT NULL CHECK (least_kobo >= 0),
    changed_by TEXT   NOT NULL,
    changed_at BIGINT NOT NULL,
    mac        TEXT   NOT NULL,
    PRIMARY KEY (company_id)
);

-- +goose Down
DROP TABLE company_payout_rule;
