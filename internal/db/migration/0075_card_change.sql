-- kobo: serves 45
-- +goose Up

-- A card's use keeps what the issuer says of it. The amount of an earlier row has no sign.
ALTER TABLE card_activity ADD COLUMN currency TEXT NOT NULL DEFAULT '';
ALTER TABLE card_activity ADD COLUMN merchant TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS card_activity_card ON card_activity (company_id, card_id, happened_at, id);

-- The last change of a card's status that the company has requested. OPEN until the issuer has
-- answered. left_kobo is what was on the card before its termination, or -1 if that is not known.
CREATE TABLE card_change (
    company_id   TEXT   NOT NULL,
    card_id      TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('OPEN', 'DONE')),
    status       TEXT   NOT NULL CHECK (status IN ('active', 'inactive', 'canceled')),
    reason       TEXT   NOT NULL,
    left_kobo    BIGINT NOT NULL,
    called_until BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, card_id),
    FOREIGN KEY (company_id, card_id) REFERENCES card (company_id, id)
);

-- +goose Down
DROP TABLE card_change;
DROP INDEX card_activity_card;
ALTER TABLE card_activity DROP COLUMN merchant;
ALTER TABLE card_activity DROP COLUMN currency;
