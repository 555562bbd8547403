package console

import (
	"net/url"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/operator"
)

func (c *console) inboxRoutes() map[string]route {
	return map[string]route{
		"GET /console/system/inbox":              {show: showInbox, query: []string{"status", "provider", "after"}},
		"GET /console/system/inbox/{id}":         {show: showNotification},
		"POST /console/system/inbox/{id}/replay": {show: showNotification, do: replayNotification},
	}
}

func showInbox(v *visit) (view, error) {
	q := url.Values{}
	for _, name := range v.route.query {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	var page admin.Notifications
	_, err := v.call("listNotifications", admin.Input{Query: q}, &page)
	return view{title: "Inbox", item: "system", body: inboxPage(v, page)}, err
}

func showNotification(v *visit) (view, error) {
	var n admin.NotificationDetail
	_, err := v.call("findNotification", v.id(), &n)
	return view{title: "Notification", item: "system", body: notificationPage(v, n)}, err
}

// replayNotification lets a notification be worked again.
func replayNotification(v *visit) (string, error) {
	in := v.id()
	in.Body = struct{}{}
	_, err := v.call("replayNotification", in, nil)
	return "/console/system/inbox/" + url.PathEscape(v.PathValue("id")), err
}

// mayReplay reports whether the person may let a notification be worked again.
func (v *visit) mayReplay(n admin.Notification) bool {
	return v.may(operator.Support) && n.Status != "NEW"
}

// cameOf splits what came of a notification into words and the reference that they end with. The reference is "" if there is none.
func cameOf(detail string) (what, reference string) {
	for _, before := range []string{"payment", "credit of session"} {
		if reference, found := strings.CutPrefix(detail, before+" "); found && !strings.ContainsAny(reference, " <") {
			return sentence(before), reference
		}
	}
	return detail, ""
}

// notificationStates are the states of a notification, in the words of the screen.
var notificationStates = []choice{{"", "Every state"}, {"NEW", "Waiting"}, {"WORKED", "Done"}, {"IGNORED", "Of no use"}, {"CASE", "Case"}}

// notificationChip returns how the state of a notification is drawn.
func notificationChip(status string) (kind, word string) {
	word = label(notificationStates, status)
	switch status {
	case "NEW":
		return "wait", word
	case "WORKED":
		return "ok", word
	case "CASE":
		return "case", word
	}
	return "idle", word
}
