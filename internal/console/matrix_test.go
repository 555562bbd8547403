package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/console"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// Each page whose address names a company answers 404 for an id of another company, and for a company that is
// not. It changes nothing of either company, and shows nothing of the other one.
func TestNoAddressMixesTwoCompanies(t *testing.T) {
	each(t, func(w *world) {
		w.plantCustomer()
		p := w.signIn("dev")
		one := w.company.Reference
		url := "http://127.0.0.1:9"
		hook, err := w.app.Webhooks.Create(w.t.Context(), one, webhook.Draft{URL: &url}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		sent, err := w.app.Webhooks.Test(w.t.Context(), one, hook.ID, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		var key struct{ APIKeys []struct{ ID string } }
		w.ask("GET", "companies/"+one, "", &key)
		var two struct{ Reference string }
		w.ask("POST", "companies", `{"name":"Other Company"}`, &two)
		w.seat(one, "vera", who.Viewer)
		crew, err := w.app.People.People(w.t.Context(), one)
		if err != nil || len(crew) == 0 {
			w.t.Fatal(err)
		}
		ids := map[string]string{"people": crew[0].ID, "customers": "c1", "keys": key.APIKeys[0].ID, "accounts": "1", "deliveries": sent.ID, "webhooks": hook.ID}
		fields := map[string]string{"reason": "INVESTIGATION", "status": "INACTIVE", "from": "1", "to": "2", "name": "Mixed", "account": "1", "live": "true", "sure": "yes"}

		// state is all that the requests could change.
		state := func() (text string) {
			w.t.Helper()
			for _, reference := range []string{one, two.Reference} {
				for _, path := range []string{"", "/webhooks", "/deliveries", "/events", "/people", "/payout-fees", "/payout-limits", "/customers"} {
					var said any
					w.ask("GET", "companies/"+reference+path, "", &said)
					text += fmt.Sprint(said)
				}
			}
			return text
		}
		before, walked := state(), 0
		for _, pattern := range console.Patterns() {
			method, path, _ := strings.Cut(pattern, " ")
			if !strings.HasPrefix(path, "/console/companies/{reference}") {
				continue
			}
			part := strings.Split(path, "/")
			var mixed []string
			for _, reference := range []string{"cnobody0000000000000000000", two.Reference} {
				id := "nothing"
				if strings.Contains(path, "{id}") {
					if id = ids[part[4]]; id == "" {
						w.t.Fatalf("the test has no id for %s", pattern)
					}
				} else if reference == two.Reference {
					continue
				}
				mixed = append(mixed, strings.NewReplacer("{reference}", reference, "{id}", id, "{change}", "account", "{n}", "x", "{seen}", "x").Replace(path))
			}
			for _, address := range mixed {
				var g page
				if method == http.MethodGet {
					g = p.get(address)
				} else {
					g = p.send(address, p.form("/console/companies/"+one, fields))
				}
				if walked++; g.status != http.StatusNotFound || strings.Contains(g.text, "Demo Company") || strings.Contains(g.text, "Okafor") {
					w.t.Errorf("%s %s: %d", method, address, g.status)
				}
			}
		}
		bank := "/console/companies/" + two.Reference + "/change/bank-account"
		if g := p.send(bank, p.form(bank, map[string]string{"account": "1", "bank": "safehaven", "number": "0123456789", "holder": "Other", "sure": "yes"})); g.status != http.StatusNotFound {
			w.t.Errorf("the account of another company in a form: %d", g.status)
		}
		if walked < 25 {
			w.t.Errorf("only %d addresses were walked", walked)
		}
		if after := state(); after != before {
			w.t.Errorf("something has changed: before\n%s\nafter\n%s", before, after)
		}
	})
}
