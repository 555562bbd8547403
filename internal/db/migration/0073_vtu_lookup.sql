-- kobo: serves 45
-- +goose Up

-- Billers that have found a purchase by our reference, for each kind of service. A biller that is
-- not listed may be unable to look up our references.
CREATE TABLE vtu_lookup (
    provider  TEXT   NOT NULL,
    kind      TEXT   NOT NULL CHECK (kind IN ('AIRTIME', 'DATA', 'CABLE_TV', 'UTILITY')),
    proven_at BIGINT NOT NULL,
    PRIMARY KEY (provider, kind)
);

-- +goose Down
DROP TABLE vtu_lookup;
