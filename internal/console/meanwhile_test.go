package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"
)

// A person decides what another person has decided meanwhile. The page says who it was, and the status is that of a conflict.
func TestADecisionThatComesTooLateSaysWhoHasDecided(t *testing.T) {
	w := open(t)
	second := w.signIn("dev2")
	at := "/console/proposals/" + propose(w)
	late := second.form(at, map[string]string{"note": "not now"})
	second.submit(at, at+"/approve", nil)
	g := second.send(at+"/reject", late)
	if text := html.UnescapeString(g.text); g.status != http.StatusConflict || !strings.Contains(text, "Approved: dev2, ") || !strings.Contains(text, "Nothing was changed") {
		t.Errorf("%d: %s", g.status, text)
	}
}
