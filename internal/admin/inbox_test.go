package admin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/provider"
)

// silentBank is a bank that nobody asks.
type silentBank struct{ provider.Receiver }

// tell sends a notification of the bank to the inbox.
func (d *door) tell(body string) {
	d.t.Helper()
	mux, w := http.NewServeMux(), httptest.NewRecorder()
	mux.Handle(inbox.Pattern, d.inbox.CallbackHandler())
	mux.ServeHTTP(w, httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, d.inbox.Path("safehaven"), strings.NewReader(body)))
	if w.Code != http.StatusOK {
		d.t.Fatalf("%d %s", w.Code, w.Body)
	}
}

// Operators read what a bank has told us, without what names a person, and let it be worked again.
func TestOperatorsReadTheInbox(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		for i := range 53 {
			d.tell(fmt.Sprintf(`{"type":"transfer","data":{"n":%d,"debitAccountName":"NGOZI OKAFOR","creditAccountNumber":"0123456789"}}`, i))
		}
		page := func(query string) (rows []any, next string) {
			t.Helper()
			said := d.ok(d.ada, "GET", "/admin/v1/notifications"+query, "")
			next, _ = said["next"].(string)
			return said["notifications"].([]any), next
		}
		first, next := page("")
		rest, last := page("?after=" + next)
		seen := map[any]bool{}
		for _, n := range append(first, rest...) {
			seen[n.(map[string]any)["id"]] = true
		}
		if len(first) != 50 || len(rest) != 3 || last != "" || len(seen) != 53 {
			t.Fatalf("%d and %d rows, %d of them different, and then %q", len(first), len(rest), len(seen), last)
		}
		one := "/admin/v1/notifications/" + first[0].(map[string]any)["id"].(string)
		if said := fmt.Sprint(d.ok(d.ada, "GET", one, "")); strings.Contains(said, "OKAFOR") || strings.Contains(said, "0123456789") || !strings.Contains(said, "debitAccountName") {
			t.Errorf("the body: %s", said)
		}
		d.no(d.ada, "POST", one+"/replay", "", 409, "The notification is being worked")
		if _, err := d.base.Exec(t.Context(), `UPDATE inbox_notification SET state = 'CASE', detail = 'a bank said 0123456789', worked_at = 5 WHERE id = $1`, one[len("/admin/v1/notifications/"):]); err != nil {
			t.Fatal(err)
		}
		// The program that has worked it has not ended its job yet.
		d.no(d.ada, "POST", one+"/replay", "", 409, "The notification is being worked")
		if asked, _ := page("?status=CASE&provider=safehaven"); len(asked) != 1 || strings.Contains(fmt.Sprint(asked), "0123456789") {
			t.Errorf("%v", asked)
		}
		if _, err := d.base.Exec(t.Context(), `DELETE FROM job WHERE kind = 'inbox.work'`); err != nil {
			t.Fatal(err)
		}
		if n := d.ok(d.ada, "POST", one+"/replay", ""); n["status"] != "NEW" {
			t.Errorf("%v", n)
		}
		if line := d.lastLine(); line["action"] != "notification.replay" || line["operator"] != "ada" || line["details"].(map[string]any)["was"] != "CASE" {
			t.Errorf("the log: %v", line)
		}
		d.no(d.ada, "POST", one+"/replay", "", 409, "The notification is being worked")
		if asked, _ := page("?status=CASE"); len(asked) != 0 {
			t.Errorf("%v", asked)
		}
		d.no(d.ada, "GET", "/admin/v1/notifications/nothing", "", 404, "Notification not found")
		d.no(d.ada, "POST", "/admin/v1/notifications/nothing/replay", "", 404, "Notification not found")
		d.no(d.ada, "GET", "/admin/v1/notifications?after=x", "", 400, `"after" is not a cursor of this list`)
		d.no(d.ada, "GET", "/admin/v1/notifications?provider=sudo&after=5", "", 400, `"after" is not a cursor of this list`)
	})
}
