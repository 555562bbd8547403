package console_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// isNewer waits until the stream of a list has said how many newer rows there are.
func isNewer(t *testing.T, page string, lines <-chan string, want string) {
	t.Helper()
	said := ""
	for said != "data: "+want {
		kind := hears(t, lines)
		if said = hears(t, lines); kind != "event: newer" {
			t.Fatalf("%s: %q, %q", page, kind, said)
		}
	}
}

// The operators' lists of one company say how many newer rows there are, and so does the list of bulk payouts.
func TestTheListsOfACompanySayHowManyNewerRowsThereAre(t *testing.T) {
	each(t, func(w *world) {
		dev, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(endpoint.Close)
		if _, err := w.app.Webhooks.Create(t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil); err != nil {
			w.t.Fatal(err)
		}
		w.payout("0123456710", 10)
		of := "/console/companies/" + w.company.Reference
		lists := map[string]<-chan string{}
		for _, tab := range []string{"/accounts/1", "/events", "/deliveries", "/customers", "/virtual-accounts", "/cards"} {
			lists[tab] = dev.told(dev.streamOf(of+tab, "data-newer"))
		}
		lists["bulk"] = ada.told(ada.streamOf("/app/payouts/bulk", "data-newer"))
		w.payout("0123456711", 20)
		ada.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100"})
		w.plantCustomer()
		isNewer(t, "customers", lists["/customers"], "1")
		isNewer(t, "bulk payouts", lists["bulk"], "1")
		for _, tab := range []string{"/accounts/1", "/events", "/deliveries"} {
			if kind := hears(t, lists[tab]); kind != "event: newer" {
				t.Errorf("%s: %q", tab, kind)
			}
		}
		for _, tab := range []string{"/virtual-accounts", "/cards"} {
			select {
			case line := <-lists[tab]:
				t.Errorf("%s says %q", tab, line)
			default:
			}
		}
	})
}

// Only a list has such a stream: no other page of the same person is read by its address.
func TestOnlyAListHasAStreamOfNewerRows(t *testing.T) {
	w := open(t)
	w.plantCustomer()
	dev, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)
	const from = "&from=2031-01-02T03:04:05.000Z"
	of := "/console/companies/" + w.company.Reference
	for _, wrong := range []string{of, of + "/customers/c1", of + "/customers?colour=red", "/console/nowhere", "https://elsewhere.example/console/payments"} {
		if g := dev.get("/console/live/newer?of=" + wrong + from); strings.Contains(g.text, "event:") {
			t.Errorf("%s: %s", wrong, g.text)
		}
	}
	var token struct{ AccessToken string }
	w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
	for range 51 {
		w.asCompany("GET", "/api/v1/settlement/banks", token.AccessToken, nil, nil)
	}
	later(t, func() string {
		text := html.UnescapeString(ada.read("/app/developers/requests"))
		older := regexp.MustCompile(`/app/developers/requests\?after=[^"]+`).FindString(text)
		if older == "" || !strings.Contains(text, "data-newer") {
			return text
		}
		if strings.Contains(ada.read(older), "data-newer") {
			t.Errorf("the older page %s says how many newer rows there are", older)
		}
		return ""
	})
}
