package sudo

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Only a whole reply decides about a funding, and no server error does.
func FuzzRepliesOfTheIssuer(f *testing.F) {
	statuses := []int{200, 201, 302, 400, 401, 403, 404, 409, 422, 500}
	for _, body := range []string{
		`{"statusCode":200,"responseCode":"00","data":{}}`, `{"statusCode":200,"data":{"_id":"1","status":"completed"}}`,
		`{"statusCode":400,"message":"Insufficient funds"}`, `{"statusCode":200,"responseCode":"94"}`, `{"data":{"status":"failed","responseCode":"00"}}`, `null`, `[]`, `<html>`, ``,
	} {
		for i := range statuses {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, body string) {
		r := provider.Reply{Status: statuses[int(i)%len(statuses)], Body: []byte(body)}
		a := judge(r, func(e envelope) claim {
			var of transfer
			if !e.into(&of) && !e.empty() {
				return claim{open: true}
			}
			return of.claim()
		})
		refused := a.Outcome == provider.Rejected && (r.Status == 401 || r.Status == 403)
		if a.Outcome != provider.Unknown && (!json.Valid(r.Body) && !refused || r.Status >= 500) || a.Outcome == provider.Confirmed && r.Status/100 != 2 {
			t.Errorf("%d %q decides %s", r.Status, body, a.Outcome)
		}
	})
}

// A forged notification is never read, and a true one never panics.
func FuzzNotificationsOfTheIssuer(f *testing.F) {
	for _, body := range []string{
		`{"_id":"1","type":"transaction.created","createdAt":"1700000000","data":{"_id":"2","card":"c","amount":100,"currency":"NGN"}}`,
		`{"type":"card.terminated","data":{"_id":"c","balance":"12.50"}}`, `{"type":"authorization.request","data":{"card":{"_id":"c"}}}`, `{"type":"","data":[]}`, `null`,
	} {
		f.Add(body)
	}
	p := &Plug{cfg: Config{WebhookAuthorization: "ours"}}
	f.Fuzz(func(t *testing.T, body string) {
		if _, err := p.ParseCardNotice(http.Header{"Authorization": {"theirs"}}, []byte(body)); err == nil {
			t.Errorf("a forged notification is read: %q", body)
		}
		n, err := p.ParseCardNotice(http.Header{"Authorization": {"ours"}}, []byte(body))
		if err == nil && n.Kind == provider.CardEnded && n.Card == "" && n.ID == "" {
			t.Errorf("%q ends no card: %+v", body, n)
		}
	})
}
