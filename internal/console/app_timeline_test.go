package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// The page of a payment at a company ends with the present and with what comes next, as the operators' one does: the next question to
// the provider, the end of the grace period, the decision of people, and the next delivery. A lane shows the rows of those who act.
func TestACompanySeesWhatComesNext(t *testing.T) {
	each(t, func(w *world) {
		endpoint := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusInternalServerError) }))
		defer endpoint.Close()
		if _, err := w.app.Webhooks.Create(w.t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil); err != nil {
			w.t.Fatal(err)
		}
		reference := w.payout("0123456708", 250) // the bank never says more
		bola, dev := w.seat(w.company.Reference, "bola", who.Viewer), w.signIn("dev")
		at := "/app/p/" + reference
		later(t, func() string {
			if !strings.Contains(bola.read(at), "Next delivery") {
				return "no delivery waits"
			}
			return ""
		})
		bola.tells(at, "Now <time", "The provider is asked again", "number 1 after the first call", "End of the grace period", "that it has no such payment",
			"People decide if nobody knows by then", "Two people of Kobo's operator decide.", `<a href="`+at+`" aria-current="page">All</a>`)
		dev.tells("/console/p/"+reference, "Now <time", "Next poll", "End of the grace period", "Becomes a case if nobody knows by then", "Next delivery")
		for lane, has := range map[string][]string{
			"told":     {"Next delivery"},
			"provider": {"The provider is asked again", "End of the grace period", "The provider was asked"},
			"people":   {"People decide if nobody knows by then"},
			"money":    {"₦250.00 moved"},
		} {
			text := bola.read(at + "?lane=" + lane)
			for _, words := range []string{"Next delivery", "The provider is asked again", "End of the grace period", "The provider was asked", "People decide if nobody knows by then", "₦250.00 moved"} {
				shown := strings.Contains(text, "<strong>"+words)
				wanted := false
				for _, one := range has {
					wanted = wanted || one == words
				}
				if shown != wanted {
					t.Errorf("the lane %s shows %q: %t", lane, words, shown)
				}
			}
		}
		if text := bola.read("/app/p/" + w.payout("0123456710", 100)); strings.Contains(text, "The provider is asked again") || strings.Contains(text, "End of the grace period") {
			t.Error("a payout that is paid has a next question")
		}
	})
}
