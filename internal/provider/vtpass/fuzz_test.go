package vtpass

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kobo-waas/kobo/internal/provider"
)

var statuses = []int{200, 201, 302, 400, 401, 403, 404, 422}

// Only a whole reply decides: whatever VTpass sends, an outcome needs a body of JSON, or a refusal of our keys.
// A reply about another purchase decides nothing.
func FuzzRepliesOfTheBiller(f *testing.F) {
	for _, body := range []string{
		`{"code":"000","requestId":"ref","amount":100,"response_description":"ok","content":{"transactions":{"status":"delivered","transactionId":"1","amount":"100.00"}}}`,
		`{"code":"016","content":{"transactions":{"status":"failed"}}}`, `{"code":"015"}`, `{"code":"099","content":{"transactions":{"status":"pending"}}}`,
		`{"code":"000","requestId":"other","content":{"transactions":{"status":"delivered","transactionId":"1"}}}`, `{"code":"028"}`, `{"content":[]}`, `<html>`, ``,
	} {
		for i := range statuses {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, body string) {
		r := provider.Reply{Status: statuses[int(i)%len(statuses)], Body: []byte(body)}
		whole := json.Valid(r.Body)
		for what, a := range map[string]provider.Answer{"payment": judgePayment(r, "ref"), "requery": judgeRequery(r, "ref")} {
			refused := a.Outcome == provider.Rejected && what == "payment" && (r.Status == 401 || r.Status == 403)
			if a.Outcome != provider.Unknown && !whole && !refused {
				t.Errorf("%s: %d %q decides %s", what, r.Status, body, a.Outcome)
			}
			if a.Missing && (a.Outcome != provider.Unknown || a.Found) {
				t.Errorf("%s: %d %q is missing, found %v and %s", what, r.Status, body, a.Found, a.Outcome)
			}
			if a.Unstarted && a.Outcome != provider.Rejected || a.Sold < 0 {
				t.Errorf("%s: %d %q gives %+v", what, r.Status, body, a)
			}
		}
	})
}

// A callback proves nothing and gives a reference at most, which is the one that we gave VTpass.
func FuzzNotificationsOfTheBiller(f *testing.F) {
	begun := time.Unix(1_900_000_000, 0)
	const own = "01klmnopqrstuvwxyz0a"
	f.Add(`{"type":"transaction-update","data":{"requestId":"203003171846`+own+`","code":"000"}}`, own)
	f.Add(`{"type":"transaction-update","data":{"requestId":12}}`, "01982f10-1c3c-7000-8000-0123456789ab")
	f.Add(`{"type":"variations-update","data":{"requestId":"203003171846x"}}`, "")
	f.Add(`{"type":"transaction-update","data":[]}`, "A")
	f.Add(`null`, "é")
	p := &Plug{}
	f.Fuzz(func(t *testing.T, body, reference string) {
		read, err := p.ParseSaleNotice([]byte(body))
		if read != "" && (err != nil || !json.Valid([]byte(body)) || !strings.Contains(body, "transaction-update") && !strings.Contains(body, `\u`)) {
			t.Errorf("%q names %q, %v", body, read, err)
		}
		u, err := uuid.Parse(reference)
		asked, ok := requestID(reference, begun)
		if !ok || err == nil && u.Version() != 7 { // no reference of ours
			return
		}
		notice, err := json.Marshal(map[string]any{"type": "transaction-update", "data": map[string]string{"requestId": asked}})
		if err != nil {
			t.Fatal(err)
		}
		read, err = p.ParseSaleNotice(notice)
		if back, _ := requestID(read, begun); err != nil || back != asked {
			t.Errorf("the callback of %q names %q, %v", reference, read, err)
		}
	})
}
