package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

func TestANotificationIsReadAndWorkedAgain(t *testing.T) {
	each(t, func(w *world) {
		r, err := http.Post(w.url+w.app.Inbox.Path("safehaven"), "application/json", strings.NewReader(`{"type":"noise","data":{"name":"NGOZI OKAFOR"}}`))
		if err != nil {
			w.t.Fatal(err)
		}
		_ = r.Body.Close()
		if err := w.app.Worker.Settled(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		p := w.signIn("dev")
		text := p.read("/console/system/inbox?status=IGNORED&provider=safehaven")
		_, after, found := strings.Cut(text, `href="/console/system/inbox/`)
		if !found || !strings.Contains(text, "Safe Haven") || inline.MatchString(text) {
			w.t.Fatal(text)
		}
		one := "/console/system/inbox/" + strings.SplitN(after, `"`, 2)[0]
		if text := p.read(one); strings.Contains(text, "OKAFOR") || !strings.Contains(text, "Of no use") {
			w.t.Error(text)
		}
		p.submit(one, one+"/replay", nil)
		if err := w.app.Worker.Settled(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if text := p.read(one); !strings.Contains(text, "Of no use") {
			w.t.Error(text)
		}
		if text := p.read("/console/system/audit?action=notification.replay"); !strings.Contains(text, "notification.replay") {
			w.t.Error("no line of the audit log")
		}
		viewer := w.add("vera", operator.Viewer)
		if g := viewer.send(one+"/replay", viewer.form("/console/companies", nil)); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer replays: %d", g.status)
		}
	})
}

// A notification leads to the payment or the credit that came of it. A session ID names nobody, so it stands there whole.
func TestANotificationLeadsToWhatCameOfIt(t *testing.T) {
	w := open(t)
	w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": w.company.SettlementAccountNumber, "amount": 2_500, "senderName": "BOLA SAMPLE"}, nil)
	reference := w.payout("0123456710", 250)
	p := w.signIn("dev")
	credit := regexp.MustCompile(`Credit of session <a href="(/console/p/[0-9]{30})">`)
	later(t, func() string {
		text := p.read("/console/system/inbox")
		found := credit.FindStringSubmatch(text)
		if found == nil || !strings.Contains(text, `Payment <a href="/console/p/`+reference+`">`) {
			return text
		}
		if page := p.read(found[1]); !strings.Contains(page, "₦2,500.00 from BOLA SAMPLE") {
			return page
		}
		return ""
	})
}
