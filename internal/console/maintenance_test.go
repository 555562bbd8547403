package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

func TestAPersonClosesAndOpensTheAPI(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		const page = "/console/system/maintenance"
		var door struct {
			Closed bool
			Reason *string
		}
		if g := p.send(page, p.form(page, map[string]string{"closed": "true", "reason": " "})); g.status != http.StatusUnprocessableEntity {
			w.t.Errorf("without a reason: %d", g.status)
		}
		p.submit(page, page, map[string]string{"closed": "true", "reason": "the bank is away"})
		if w.ask("GET", "door", "", &door); !door.Closed || door.Reason == nil || *door.Reason != "the bank is away" {
			w.t.Errorf("%+v", door)
		}
		if text := p.read(page); !strings.Contains(text, "the bank is away") || !strings.Contains(text, "Open the API") || inline.MatchString(text) {
			w.t.Error(text)
		}
		viewer := w.add("vera", operator.Viewer)
		if text := viewer.read(page); strings.Contains(text, "Open the API") {
			w.t.Error("a viewer gets the form")
		}
		if g := viewer.send(page, viewer.form(page, map[string]string{"closed": "false"})); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer opens the API: %d", g.status)
		}
		p.submit(page, page, map[string]string{"closed": "false"})
		if w.ask("GET", "door", "", &door); door.Closed {
			w.t.Error("the API is still closed")
		}
	})
}
