-- kobo: serves 45
-- +goose Up

-- The timeline of a payment shows the deliveries of each event. An operator of many deliveries may
-- make the index beforehand, without a lock (docs/upgrading.md).
CREATE INDEX IF NOT EXISTS webhook_delivery_event ON webhook_delivery (company_id, event_id);

-- +goose Down
DROP INDEX webhook_delivery_event;
