package apptest_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// remade are the posts whose response is made anew from the object behind the Idempotency-Key, after
// the stored response has been removed. All other posts are then refused.
var remade = map[string]bool{
	"/api/v1/settlement/send-payout": true, "/api/v1/card/fund-card": true, "/api/v1/vtu/purchase-data": true,
	"/api/v1/vtu/purchase-airtime": true, "/api/v1/vtu/purchase-cable-tv": true, "/api/v1/vtu/purchase-utility": true,
	"/api/v1/crypto/generate-address/{networkId}": true,
}

// effects returns everything that a POST could have changed: the number of rows of each table, and
// how often the providers executed each payment.
func effects(t *testing.T, p *apptest.Program) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range []string{
		"ledger_entry", "event", "operation", "idempotency_key", "customer", "customer_account", "corporate_kyc", "corporate_account",
		"collection", "card", "payout_verification", "vtu_verification", "vtu_purchase", "settlement_account", "crypto_address",
		"identity_session", "identity_attempt", "webhook_endpoint", "webhook_delivery", "webhook_attempt", "webhook_lane", "operator_audit", "ledger_counter",
	} {
		n, err := db.One(t.Context(), p.App.DB, db.Value[int64], "SELECT count(*) FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		out[table] = fmt.Sprint(n)
	}
	for reference, sale := range p.Sales() {
		out[reference] = fmt.Sprint(sale)
	}
	return out
}

// The stored response of an Idempotency-Key is removed after 13 months. After 14 months, a repeated
// request is still not executed a second time. Its response is made from the operation, or it is
// refused with the date of the first request.
func TestAnOldKeyExecutesNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.NewHome(t, dialect).Start(t, apptest.Routes("UTILITY=vtpass"))
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		t.Cleanup(hook.Close)
		s := newStory(t, p, hook.URL)
		s.kept["meter"] = p.Verify(t, p.Category("Utility", "Ikeja Electric Payment - IKEDC"), "45012345610")
		type request struct {
			post
			path  string
			body  any
			first apptest.Answer
		}
		var sent []request
		send := func(r request) apptest.Answer {
			return p.Do(http.MethodPost, r.path, r.body, header, r.post.path+" once")
		}
		for _, o := range posts {
			if o.wait > 0 {
				p.Advance(o.wait)
			}
			path, body := s.request(o)
			r := request{post: o, path: path, body: body}
			r.first = send(r).Want(t, http.StatusOK)
			s.took(p, o, r.first)
			sent = append(sent, r)
		}
		broke := p.Order(p.Bundle(), "broke", "10")
		broke.SettlementID = p.Account(p.Client, 0).SettlementID
		refused := request{post: post{path: "refused"}, path: apptest.PurchaseData, body: broke}
		refused.first = send(refused).Want(t, http.StatusBadRequest)
		sent = append(sent, refused)

		p.Advance(380 * 24 * time.Hour) // less than 13 months
		for _, r := range sent {
			secret := strings.Contains(r.first.Body, "whsec_") || strings.Contains(r.first.Body, `"apiKey":`)
			if !secret { // a secret leaves the stored response after ten minutes
				same(t, r.post.path, r.first, send(r))
			}
		}
		p.Advance(46 * 24 * time.Hour) // 14 months in all
		if n, err := db.One(t.Context(), p.App.DB, db.Value[int64], "SELECT count(*) FROM idempotency_key WHERE body <> ''"); err != nil || n > 0 {
			t.Fatalf("%d responses are still stored, %v", n, err)
		}
		// The signed checkpoint of this hour is an event. Its delivery is no effect of a repeated request.
		apptest.Eventually(t, func() string {
			n, err := db.One(t.Context(), p.App.DB, db.Value[int64], `SELECT count(*) FROM event AS e
				WHERE e.company_id = $1 AND e.created_at > $2 AND NOT EXISTS (SELECT 1 FROM webhook_delivery AS d
					WHERE d.company_id = e.company_id AND d.sequence = e.sequence)`, p.Reference, p.App.Clock.Now().Add(-time.Hour).UnixMicro())
			if err != nil || n > 0 {
				return fmt.Sprintf("%d events of this hour are not delivered, %v", n, err)
			}
			return ""
		})
		before := effects(t, p)
		for _, r := range sent {
			a := send(r)
			if made := a.Header.Get(replayed) == "true" && a.Status == r.first.Status; remade[r.post.path] != made {
				t.Errorf("%s: made anew: %v: %s", r.post.path, made, a)
			}
			if !remade[r.post.path] && (a.Status != http.StatusUnprocessableEntity || !strings.HasPrefix(a.Message(), "Idempotency-Key was used on 20")) {
				t.Errorf("%s: %s", r.post.path, a)
			}
			if remade[r.post.path] && a.Body != r.first.Body {
				t.Errorf("%s: first %s, then %s", r.post.path, r.first, a)
			}
			p.Do(http.MethodPost, "/api/v1/settlement/accounts", `{"name": "Another request"}`, header, r.post.path+" once").Want(t, http.StatusUnprocessableEntity)
			var use struct {
				Data struct {
					Status         string
					ResponseStatus int
					Response       any
				}
			}
			p.Do(http.MethodGet, "/api/v1/idempotency/"+url.PathEscape(r.post.path+" once"), nil).Want(t, http.StatusOK).Into(t, &use)
			if use.Data.Status != "DONE" || use.Data.ResponseStatus != r.first.Status || use.Data.Response != nil {
				t.Errorf("%s: %+v", r.post.path, use)
			}
		}
		if after := effects(t, p); !maps.Equal(before, after) {
			t.Errorf("before %v, after %v", before, after)
		}
		holdsTogether(t, p)
	})
}
