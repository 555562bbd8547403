package admin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/webhook"
)

// An operator sees what an endpoint answered, and sends the event again. The audit log says who did it.
func TestOperatorsSendEventsAgain(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		status := http.StatusInternalServerError
		endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "our database is away")
		}))
		defer endpoint.Close()
		one, err := d.webhooks.Create(t.Context(), reference, webhook.Draft{URL: &endpoint.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprint(d.ok(d.ada, "GET", path+"/webhooks", "")); !strings.Contains(said, "last:<nil>") || !strings.Contains(said, "behind:0") {
			t.Errorf("before the first delivery: %s", said)
		}
		d.ok(d.bob, "POST", path+"/payout-limits", `{"amount":5,"payouts":1}`)
		go d.webhooks.Run(t.Context())
		if err := d.webhooks.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := d.ok(d.ada, "GET", path+"/webhooks", "")["webhooks"].([]any)[0].(map[string]any)
		last := said["last"].(map[string]any)
		if said["status"] != "ACTIVE" && said["status"] != "FAILING" || said["retrying"] != 1.0 || last["responseStatus"] != 500.0 {
			t.Errorf("%v", said)
		}
		id := last["id"].(string)
		detail := d.ok(d.ada, "GET", path+"/deliveries/"+id, "")
		if history := fmt.Sprint(detail["history"]); !strings.Contains(history, "our database is away") || !strings.Contains(history, "responseStatus:500") {
			t.Errorf("%v", detail)
		}
		body := `{"company":"` + reference + `"}`
		again := d.ok(d.ada, "POST", "/admin/v1/deliveries/"+id+"/resend", body)
		if line := d.lastLine(); line["action"] != "webhook.resend" || line["operator"] != "ada" || line["company"] != reference || line["subject"] != again["id"] {
			t.Errorf("the log: %v", line)
		}
		events := `{"company":"` + reference + `","from":1,"to":99}`
		d.ok(d.ada, "POST", "/admin/v1/webhooks/"+one.ID+"/replay", events)
		if line := d.lastLine(); line["action"] != "webhook.replay" || line["subject"] != one.ID {
			t.Errorf("the log: %v", line)
		}
		for _, number := range []string{"1e0", "1.0", "0.5"} {
			wrong := `{"company":"` + reference + `","from":` + number + `,"to":` + number + `}`
			d.no(d.ada, "POST", "/admin/v1/webhooks/"+one.ID+"/replay", wrong, 400, `"from" must be a positive integer; "to" must be a positive integer`)
		}
		other, _ := d.company()
		another := strings.TrimPrefix(other, "/admin/v1/companies/")
		d.no(d.ada, "GET", other+"/deliveries/"+id, "", 404, "Delivery not found")
		d.no(d.ada, "POST", "/admin/v1/deliveries/"+id+"/resend", `{"company":"`+another+`"}`, 404, "Delivery not found")
		d.no(d.ada, "POST", "/admin/v1/webhooks/"+one.ID+"/replay", `{"company":"`+another+`","from":1,"to":2}`, 404, "Webhook not found")
		d.no(d.ada, "POST", "/admin/v1/webhooks/"+one.ID+"/replay", `{"company":"`+reference+`","from":5000,"to":6000}`, 400, "There are no events in this range")
	})
}
