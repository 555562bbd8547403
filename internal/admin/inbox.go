package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/wire"
)

func notificationOf(n inbox.Notification) Notification {
	return Notification{n.ID, n.Provider, string(n.State), wire.Optional(n.Detail), clock.Text(n.ReceivedAt), clock.Optional(n.WorkedAt)}
}

func (e *edge) listNotifications(ctx context.Context, r *request) (any, error) {
	list, next, err := e.Inbox.List(ctx, inbox.Filter{State: inbox.State(r.filter("status")), Provider: r.filter("provider")}, r.filter("after"))
	return Notifications{rows(list, notificationOf), wire.Optional(next)}, err
}

// findNotification shows a notification with its redacted body.
func (e *edge) findNotification(ctx context.Context, r *request) (any, error) {
	n, body, err := e.Inbox.Find(ctx, r.PathValue("id"))
	return NotificationDetail{Notification: notificationOf(n), Body: body}, err
}

// replayNotification lets a notification be worked again. The line of the audit log is in the same commit.
func (e *edge) replayNotification(ctx context.Context, r *request, _ NoRequest) (any, error) {
	n, err := e.Inbox.Replay(ctx, r.PathValue("id"), e.Operators.Noting(r.by, "notification.replay"))
	return notificationOf(n), err
}
