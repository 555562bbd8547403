package console_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// Each page that shows a secret once has the button that leaves it, no browser may keep it, and the same address shows nothing afterwards.
func TestASecretIsShownUntilItIsStored(t *testing.T) {
	each(t, func(w *world) {
		ada, dev := w.seat(w.company.Reference, "ada", who.Owner), w.add("grace", operator.Admin)
		people := "/console/companies/" + w.company.Reference + "/people"
		for _, once := range []struct {
			by      *person
			at, to  string // the page after the button
			has     string // of the secret
			nothing string
		}{
			{ada, ada.submit("/app/developers", "/app/developers/keys", map[string]string{"pin": w.company.PIN}).location, "/app/developers", "kobo_test_", "No key is shown here"},
			{ada, ada.submit("/app/developers/webhooks", "/app/developers/webhooks", map[string]string{"url": "http://127.0.0.1:9"}).location, "/app/developers/webhooks/", "whsec_", "No secret is shown here"},
			{ada, ada.submit("/app/settings/people", "/app/settings/people/invite", map[string]string{"name": "musa", "role": who.Viewer}).location, "/app/settings/people", "/app/link/", "No link is shown here"},
			{dev, dev.submit(people, people+"/invite", map[string]string{"name": "tolu", "role": who.Viewer}).location, people, "/app/link/", "No link is shown here"},
		} {
			g := once.by.get(once.at)
			if !strings.Contains(g.text, once.has) || !strings.Contains(g.text, `data-once><a class="button" href="`+once.to) || !strings.Contains(g.text, ">I have stored it</a>") || g.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v %s", once.at, g.header, g.text)
			}
			if text := once.by.read(once.at); strings.Contains(text, once.has) || !strings.Contains(text, once.nothing) || strings.Contains(text, "I have stored it") {
				t.Errorf("%s again: %s", once.at, text)
			}
			// The address of no secret says nothing else: nobody learns there that something was shown.
			never := once.at[:strings.LastIndex(once.at, "/")] + "/0190a3f0-0000-7000-8000-000000000000"
			if text := once.by.read(never); !strings.Contains(text, once.nothing) || strings.Contains(text, "was shown") {
				t.Errorf("%s: %s", never, text)
			}
		}
	})
}

// The people of a company, and operators, see when a key was used last and from where, and so does the sentence of its revocation.
func TestThePagesSayWhenAKeyWasUsed(t *testing.T) {
	each(t, func(w *world) {
		ada, dev := w.seat(w.company.Reference, "ada", who.Owner), w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		ada.says("/app/developers", "fail at once; no use is known.")
		dev.says(company, "no use is known")
		w.payout("0123456710", 1_500) // a program, with the key
		later(t, func() string {      // the log is written behind the answer
			if text := ada.read("/app/developers"); !strings.Contains(text, " ago from 127.0.0.1.</p>") {
				return text
			}
			return ""
		})
		ada.says("/app/developers", "fail at once; last used ", "127.0.0.1</span>")
		dev.says(company, "ago from 127.0.0.1")
		var said struct {
			APIKeys []struct{ LastUsedAt, LastUsedFrom *string }
		}
		w.ask("GET", "companies/"+w.company.Reference, "", &said)
		if len(said.APIKeys) != 1 || said.APIKeys[0].LastUsedAt == nil || *said.APIKeys[0].LastUsedFrom != "127.0.0.1" {
			t.Errorf("%+v", said)
		}
	})
}
