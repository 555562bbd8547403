-- kobo: serves 45
-- +goose Up

-- The months whose events an owner has moved into files (kobo archive). The
-- hash is that of the file's last line, and covers all earlier lines.
CREATE TABLE archive_month (
    company_id     TEXT   NOT NULL,
    month          TEXT   NOT NULL,
    first_sequence BIGINT NOT NULL,
    last_sequence  BIGINT NOT NULL CHECK (last_sequence >= first_sequence),
    hash           TEXT   NOT NULL,
    archived_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, month)
);

-- How many events of each kind are in such a file: kobo verify counts them.
CREATE TABLE archive_kind (
    company_id TEXT   NOT NULL,
    month      TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    events     BIGINT NOT NULL CHECK (events > 0),
    PRIMARY KEY (company_id, month, kind),
    FOREIGN KEY (company_id, month) REFERENCES archive_month (company_id, month)
);

-- +goose Down
DROP TABLE archive_kind;
DROP TABLE archive_month;
