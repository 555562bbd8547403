package keyring

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

// ReplaceNotification replaces the body of a notification if it is still the old body.
func ReplaceNotification(ctx context.Context, d *db.DB, company, rowID, old, next string) (bool, error) {
	return replaceRow(ctx, d, "inbox_notification", row{company, rowID, old, "", ""}, row{company, rowID, next, "", ""})
}
