package console_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// If an approval stops half-way, the page that follows shows once what the done acts have made, and says why it stopped. Nothing else has
// the new key.
func TestAnApprovalThatStopsShowsTheKeyThatItHasMade(t *testing.T) {
	each(t, func(w *world) {
		w.signIn("dev")
		dev2 := w.signIn("dev2")
		var asked struct{ ProposalID string }
		w.ask("POST", "proposals", `{"company":"`+w.company.Reference+`","acts":[{"operation":"issueKey"},
			{"operation":"attachBankAccount","id":"1","body":{"bank":"safehaven","accountNumber":"0123456789","accountName":"Acme"}}]}`, &asked)
		other, by := w.another(), operator.Local("test")
		a, err := w.app.Settlements.Create(t.Context(), by, other, "Main")
		if err == nil {
			_, err = w.app.Settlements.Attach(t.Context(), by, other, a.ID, "safehaven", "0123456789", "Other")
		}
		if err != nil {
			w.t.Fatal(err)
		}
		at := "/console/proposals/" + asked.ProposalID
		page := dev2.submit(at, at+"/approve", nil).location
		text := html.UnescapeString(dev2.read(page))
		key := regexp.MustCompile(`kobo_test_[A-Za-z0-9_-]+`).FindString(text)
		if access, _, err := w.app.Companies.Tokens(t.Context(), w.company.Reference, key); err != nil || access == "" {
			w.t.Fatalf("the key %q of the done act: %v, in %s", key, err, text)
		}
		for _, want := range []string{"Not all of it is done", "Attach a bank account: The bank account belongs to another company", "This is shown once."} {
			if !strings.Contains(text, want) || strings.Contains(text, "Nothing was changed") {
				w.t.Errorf("lacks %q: %s", want, text)
			}
		}
		if strings.Contains(dev2.read(page), key) {
			w.t.Error("the key is shown twice")
		}
		dev2.says(at, "Not finished", "Done</span>")
		// A second approval stops at the same act, and has made nothing.
		if g := dev2.send(at+"/approve", dev2.form(at, nil)); g.status < 400 || !strings.Contains(g.text, "Nothing was changed") {
			w.t.Errorf("%d to %q: %s", g.status, g.location, g.text)
		}
		dev2.submit(at, at+"/reject", map[string]string{"note": "a wrong account"})
	})
}
