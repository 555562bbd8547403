package safehaven

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Each kind of service has its own unit, in the order and in the amount that a reply reports.
func TestTheUnitOfEachKind(t *testing.T) {
	for kind, want := range map[provider.ServiceKind]string{provider.Airtime: `"amount":10000`, provider.Utility: `"amount":100,`} {
		s := serve(t)
		s.answer = func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"statusCode":200,"data":{"id":"1","_id":"1","status":"successful","transactionStatus":"successful","amount":10000,"transactionAmount":10000}}`)
		}
		cfg := s.config()
		cfg.AmountUnit = "AIRTIME=kobo, DATA=kobo, *=naira"
		p := s.plug(t, cfg, clock.System{})
		amount := map[provider.ServiceKind]money.Kobo{provider.Airtime: 100 * money.Naira, provider.Utility: 10_000 * money.Naira}[kind]
		paid := p.Pay(t.Context(), provider.Purchase{Reference: "r-1", Kind: kind, Category: "c", Amount: 100 * money.Naira, Phone: "08031234588", Meter: "45012345688"})
		_, orders := s.seen()
		if asked := p.Requery(t.Context(), provider.Sale{Reference: "r-1", Kind: kind}); paid.Sold != amount || asked.Sold != amount || !asked.Found {
			t.Errorf("%s: paid %s, asked %s, want %s", kind, paid.Sold, asked.Sold, amount)
		}
		if all := strings.Join(orders, ""); !strings.Contains(all, want) {
			t.Errorf("%s: sent %s, want %s", kind, all, want)
		}
	}
}

// If the bank does not find our reference, the plug asks by the bank's id. A sale that the id finds does
// not prove the look-up by our reference.
func TestASaleIsFoundByTheBanksID(t *testing.T) {
	s := serve(t)
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/vas/transaction/theirs" {
			_, _ = io.WriteString(w, `{"statusCode":200,"data":{"_id":"theirs","transactionStatus":"successful"}}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"statusCode":404,"message":"Transaction not found"}`)
	}
	p := s.plug(t, s.config(), clock.System{})
	for theirs, want := range map[string]provider.Answer{
		"theirs": {Outcome: provider.Confirmed, Reference: "theirs", Code: "successful"},
		"":       {Missing: true, Code: "404"},
		"else":   {Missing: true, Code: "404"},
	} {
		if got := p.Requery(t.Context(), provider.Sale{Reference: "ours", Kind: provider.Data, Theirs: theirs}); got != want {
			t.Errorf("%q: %+v", theirs, got)
		}
	}
}

// The status approved means that a credit to a virtual account is done. It proves nothing about a
// transfer of ours.
func TestApprovedIsADoneCreditOfAVirtualAccount(t *testing.T) {
	s := serve(t)
	s.says(200, []byte(`{"statusCode":200,"responseCode":"00","data":{"_id":"1","type":"Inwards","sessionId":"s-1","status":"Approved","amount":50,
		"creditAccountNumber":"7000000001","paymentReference":"ref-1"}}`))
	p := s.plug(t, s.config(), clock.System{})
	if a := p.Inbound(t.Context(), "s-1 ", true); a.Outcome != provider.Confirmed || a.Credit.SessionID != "s-1" {
		t.Errorf("a virtual account: %+v", a)
	}
	if a := p.Inbound(t.Context(), "s-1", false); a.Outcome != provider.Unknown {
		t.Errorf("a permanent account: %+v", a)
	}
	if a := p.RequeryTransfer(t.Context(), "ref-1"); a.Outcome != provider.Unknown {
		t.Errorf("a payout: %+v", a)
	}
}

// The error of a refused token keeps the bank's description, without secrets.
func TestATokenErrorKeepsItsDescription(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"The assertion eyJhbGciOi.hidden.part has expired"}`)
	}))
	t.Cleanup(server.Close)
	s := recorded{Server: server}
	_, err := s.plug(t, s.config(), clock.System{}).Services(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no access token was given: The assertion … has expired") {
		t.Errorf("%v", err)
	}
}
