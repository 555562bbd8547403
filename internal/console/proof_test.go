package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// Each approval, each secret and each payment of a company asks anew who the person is, also seconds after a proof. Other
// acts do not.
func TestApprovalsSecretsAndPaymentsAskAnew(t *testing.T) {
	w := open(t)
	ada := w.seat(w.company.Reference, "ada", who.Owner)
	ada.submit("/app/developers/webhooks", "/app/developers/webhooks", map[string]string{"url": "http://127.0.0.1:1/hook"})
	for path, asks := range map[string]bool{
		"/app/payouts/confirm/x": true, "/app/payouts/bulk/x/send": true, "/app/services/purchases/confirm/x": true, "/app/services/cards/x/fund/y": true,
		"/app/money/transfer/x": true, "/app/developers/keys": true, "/app/developers/webhooks": true, "/app/developers/webhooks/x/rotate": true, "/app/approvals/x/approve": true,
		"/app/payouts/check": false, "/app/payouts/bulk/new": false, "/app/developers/webhooks/x/test": false, "/app/developers/keys/x/revoke": false, "/app/approvals/x/reject": false,
		"/app/services/cards/x/terminate": false, "/app/settings/people/invite": false, "/app/settings/two-people": false, "/app/settings/pin": false, "/app/me/remove": false,
	} {
		if g := ada.sendOnly(path, ada.form("/app/me", nil)); g.asksForProof() != asks {
			t.Errorf("POST %s asks for a proof: %t, %d", path, g.asksForProof(), g.status)
		}
	}
}

// The same at the operators' side. An approval within seconds of another one asks again.
func TestEachApprovalOfAnOperatorAsksAnew(t *testing.T) {
	each(t, func(w *world) {
		second := w.signIn("dev2")
		for range 2 {
			proposal := "/console/proposals/" + propose(w)
			form := second.form(proposal, nil)
			if g := second.sendOnly(proposal+"/approve", form); !g.asksForProof() || !strings.Contains(g.text, "Each approval") {
				w.t.Fatalf("an approval without a proof of its own: %d, %s", g.status, g.text)
			}
			form.Set("proof-key", w.company.SecondAdminKey)
			if g := second.sendOnly(proposal+"/approve", form); g.status != http.StatusSeeOther {
				w.t.Fatalf("an approval with a proof: %d, %s", g.status, g.text)
			}
		}
		if g := second.sendOnly("/console/people/dev/role", second.form("/console/people", map[string]string{"role": "finance"})); g.status != http.StatusSeeOther {
			t.Errorf("an act on people within ten minutes: %d, %s", g.status, g.text)
		}
		for _, path := range []string{"/console/companies/new", "/console/adjustments/x/approve"} {
			if g := second.sendOnly(path, second.form("/console/me", map[string]string{"name": "Shop"})); !g.asksForProof() {
				t.Errorf("POST %s: %d, %s", path, g.status, g.text)
			}
		}
	})
}

// A proof works once. A form with a proof that is sent twice, or again without one, finds its first answer and asks for nothing.
func TestAFormWithAProofIsSentTwice(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "1500", "fromSettlementId": "1", "pin": w.company.PIN}
		to := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		bare := bola.form(to, nil)
		proved := bola.ready(to, bare)
		first := bola.sendOnly(to, proved)
		if first.status != http.StatusSeeOther || !strings.HasPrefix(first.location, "/app/p/") {
			w.t.Fatalf("%d, %s", first.status, first.text)
		}
		for what, again := range map[string]page{"a second click": bola.sendOnly(to, proved), "without the proof": bola.sendOnly(to, bare)} {
			if again.status != http.StatusSeeOther || again.location != first.location {
				t.Errorf("%s: %d to %q, %s", what, again.status, again.location, again.text)
			}
		}
		other := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		proved.Set("form", bola.form(other, nil).Get("form"))
		if g := bola.sendOnly(other, proved); !g.asksForProof() {
			t.Errorf("the same proof with another form: %d to %q", g.status, g.location)
		}
		if w.paid() != 1 {
			t.Errorf("%d payouts", w.paid())
		}
	})
}

// A code works once. Somebody who types it again reads that the next one is needed, and not that it is wrong.
func TestAUsedCodeIsNamed(t *testing.T) {
	w := open(t)
	grace := w.add("grace", operator.Admin)
	key := grace.setPassword()
	w.later(30 * time.Second) // the code of the step before made the password
	proposal := "/console/proposals/" + propose(w)
	form := grace.form(proposal, map[string]string{"proof-password": phrase, "proof-code": codeOf(t, key, w.app.People.Machine.Now())})
	grace.key = ""
	if g := grace.sendOnly(proposal+"/approve", form); g.status != http.StatusSeeOther {
		t.Fatalf("%d, %s", g.status, g.text)
	}
	second := "/console/proposals/" + propose(w)
	form.Set("form", grace.form(second, nil).Get("form"))
	if g := grace.sendOnly(second+"/approve", form); !g.asksForProof() || !strings.Contains(g.text, "This code was used already") || !strings.Contains(g.text, "30 seconds") {
		t.Errorf("%d, %s", g.status, g.text)
	}
	form.Set("proof-password", "wrong words")
	if g := grace.sendOnly(second+"/approve", form); !g.asksForProof() || strings.Contains(g.text, "used already") {
		t.Errorf("a wrong password: %d, %s", g.status, g.text)
	}
}
