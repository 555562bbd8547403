package safehaven

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

var keyPEM = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
})

// recorded is a server that issues tokens. It responds to all other requests with the body that the
// test sets.
type recorded struct {
	*httptest.Server
	mu     sync.Mutex
	tokens int
	sent   []string // bodies of payments
	answer func(w http.ResponseWriter, r *http.Request)
}

func serve(t *testing.T) *recorded {
	s := &recorded{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.URL.Path == "/oauth2/token" {
			s.tokens++
			fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600,"ibs_client_id":"ibs-1"}`, s.tokens)
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			s.sent = append(s.sent, string(b))
		}
		s.answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// seen returns the number of access tokens that were issued, and the bodies of the payments that
// were received.
func (s *recorded) seen() (tokens int, sent []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens, s.sent
}

func (s *recorded) says(status int, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

func (s *recorded) config() Config {
	return Config{
		ClientConfig: provider.ClientConfig{BaseURL: s.URL, PayDeadline: 5 * time.Second, ReadDeadline: 5 * time.Second},
		ClientID:     "oauth-1", PrivateKeyPEM: keyPEM(), Issuer: "https://us.example.test", DebitAccount: "0100000001",
	}
}

func (s *recorded) plug(t *testing.T, cfg Config, clk clock.Clock) *Plug {
	t.Helper()
	p, err := New(cfg, clk)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type fixture struct {
	Name      string
	Status    int
	Body      json.RawMessage
	Outcome   string
	Missing   bool
	Code      string
	Reference string
	Token     string
}

func (f fixture) check(t *testing.T, got provider.Answer) {
	t.Helper()
	if got.Outcome.String() != f.Outcome || got.Missing != f.Missing || got.Code != f.Code ||
		got.Reference != f.Reference || got.Token != f.Token {
		t.Errorf("%+v\nwant outcome %s, missing %v, code %q, reference %q, token %q",
			got, f.Outcome, f.Missing, f.Code, f.Reference, f.Token)
	}
}

func fixtures(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecordedPayments(t *testing.T) {
	var all []fixture
	fixtures(t, "payments.json", &all)
	s := serve(t)
	p := s.plug(t, s.config(), clock.System{})
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			s.says(f.Status, f.Body)
			f.check(t, p.Pay(t.Context(), provider.Purchase{
				Reference: "our-reference", Kind: provider.Data, Category: "c", Product: "m1", Amount: 50000, Phone: "08031234588",
			}))
		})
	}
}

func TestRecordedRequeries(t *testing.T) {
	var all []fixture
	fixtures(t, "requeries.json", &all)
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			s := serve(t)
			s.says(f.Status, f.Body)
			f.check(t, s.plug(t, s.config(), clock.System{}).Requery(t.Context(), provider.Sale{Reference: "our-reference"}))
		})
	}
}

func TestRecordedCatalogue(t *testing.T) {
	var pages map[string]json.RawMessage
	fixtures(t, "catalogue.json", &pages)
	s := serve(t)
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = []byte(`{"statusCode":404,"message":"Service 08031234588 not found"}`)
		}
		_, _ = w.Write(body)
	}
	p := s.plug(t, s.config(), clock.System{})
	same := func(what string, got any, err error, want string) {
		t.Helper()
		if fmt.Sprint(got) != want || err != nil {
			t.Errorf("%s: %v %v\nwant %s", what, got, err, want)
		}
	}
	services, err := p.Services(t.Context())
	same("services", services, err, "[{61e000000000000000000001 Airtime AIRTIME} {61e000000000000000000002 Data DATA} "+
		"{61e000000000000000000003 Cable CABLE_TV} {61e000000000000000000004 Power UTILITY}]")
	categories, err := p.Categories(t.Context(), "61e000000000000000000002")
	same("categories", categories, err, "[{61e000000000000000000011 MTN MTN} {61e000000000000000000012 GLO GLO}]")
	products, err := p.Products(t.Context(), provider.Data, "61e000000000000000000011")
	same("data", products, err, "[{m1 1GB 30 days ₦500.00 true} {m2  2 days ₦200.50 true} {m3  1 day ₦100.50 true}]")
	products, err = p.Products(t.Context(), provider.Data, "61e000000000000000000031")
	same("cable", products, err, "[{db0 Padi 1 month ₦4400.00 true} {db1|da1 Compact with an add-on 1 month ₦26000.00 true} {TOP_UP Top Up  ₦0.00 false}]")
	products, err = p.Products(t.Context(), provider.Data, "61e000000000000000000021")
	same("airtime", products, err, "[]")
	_, err = p.Categories(t.Context(), "nothing/../here")
	if err == nil || err.Error() != "Safe Haven: 404: Service … not found" {
		t.Errorf("an unknown service: %v", err)
	}
}

// The request bodies of the four kinds of payment match the examples in Safe Haven's documentation.
// Their amounts are in the configured unit.
func TestPaymentBodies(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		buy  provider.Purchase
		want string
	}{
		{
			Naira,
			provider.Purchase{Kind: provider.Airtime, Amount: 10050, Phone: "08031234588"},
			`{"serviceCategoryId":"c","amount":100.5,"channel":"WEB","debitAccountNumber":"0100000001","phoneNumber":"08031234588","externalReference":"ref-1"}`,
		},
		{
			Naira,
			provider.Purchase{Kind: provider.Data, Amount: 50000, Product: "m1", Phone: "08031234588"},
			`{"serviceCategoryId":"c","bundleCode":"m1","amount":500,"channel":"WEB","debitAccountNumber":"0100000001","phoneNumber":"08031234588","externalReference":"ref-1"}`,
		},
		{
			Naira,
			provider.Purchase{Kind: provider.CableTV, Amount: 2600000, Product: "db1|da1", Card: "7012345688"},
			`{"serviceCategoryId":"c","bundleCode":"db1|da1","amount":26000,"channel":"WEB","debitAccountNumber":"0100000001","cardNumber":"7012345688","externalReference":"ref-1"}`,
		},
		{
			Naira,
			provider.Purchase{Kind: provider.Utility, Amount: money.Max, Meter: "45012345688", VendType: "PREPAID"},
			`{"serviceCategoryId":"c","amount":100000000000,"channel":"WEB","debitAccountNumber":"0100000001","meterNumber":"45012345688","vendType":"PREPAID","externalReference":"ref-1"}`,
		},
		{
			Kobo,
			provider.Purchase{Kind: provider.Airtime, Amount: 10050, Phone: "08031234588"},
			`{"serviceCategoryId":"c","amount":10050,"channel":"WEB","debitAccountNumber":"0100000001","phoneNumber":"08031234588","externalReference":"ref-1"}`,
		},
	} {
		s := serve(t)
		var header http.Header
		var path string
		s.answer = func(w http.ResponseWriter, r *http.Request) {
			header, path = r.Header, r.URL.Path
			fmt.Fprint(w, `{"statusCode":200,"data":{"status":"successful"}}`)
		}
		cfg := s.config()
		cfg.AmountUnit = c.unit
		c.buy.Reference, c.buy.Category = "ref-1", "c"
		a := s.plug(t, cfg, clock.System{}).Pay(t.Context(), c.buy)
		_, sent := s.seen()
		if a.Outcome != provider.Confirmed || len(sent) != 1 || sent[0] != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.buy.Kind, a.Outcome, sent, c.want)
		}
		if header.Get("Authorization") != "Bearer token-1" || header.Get("ClientID") != "ibs-1" || header.Get("Idempotency-Key") != "" ||
			!strings.HasPrefix(path, "/vas/pay/") {
			t.Errorf("%s with %v", path, header)
		}
	}
}

func TestKoboPrices(t *testing.T) {
	s := serve(t)
	s.says(200, []byte(`{"statusCode":200,"data":[{"bundleCode":"a","amount":50050,"isAmountFixed":true},{"bundleCode":"b","amount":1.5,"isAmountFixed":true}]}`))
	cfg := s.config()
	cfg.AmountUnit = Kobo
	got, err := s.plug(t, cfg, clock.System{}).Products(t.Context(), provider.Data, "c")
	if err != nil || len(got) != 1 || got[0].Amount != 50050 {
		t.Errorf("%v %v", got, err)
	}
}

func TestWhatIsNotSoldIsNotSent(t *testing.T) {
	s := serve(t)
	a := s.plug(t, s.config(), clock.System{}).Pay(t.Context(), provider.Purchase{Reference: "ref-1", Kind: "BETTING"})
	if tokens, _ := s.seen(); a.Outcome != provider.Rejected || a.Code != provider.CodeNotSent || tokens != 0 {
		t.Errorf("%+v", a)
	}
}

func TestConfiguration(t *testing.T) {
	good := Config{
		ClientConfig: provider.ClientConfig{BaseURL: "https://api.example.test"},
		ClientID:     "c", PrivateKeyPEM: keyPEM(), Issuer: "i", DebitAccount: "1",
	}
	if _, err := New(good, clock.System{}); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no client id":        func(c *Config) { c.ClientID = "" },
		"no account":          func(c *Config) { c.DebitAccount = "" },
		"no issuer":           func(c *Config) { c.Issuer = "" },
		"no key":              func(c *Config) { c.PrivateKeyPEM = "" },
		"a bad key":           func(c *Config) { c.PrivateKeyPEM = "secret-text" },
		"key and assertion":   func(c *Config) { c.Assertion = "a.b.c" },
		"a unit of their own": func(c *Config) { c.AmountUnit = "dollar" },
		"plain http":          func(c *Config) { c.BaseURL = "http://api.example.test" },
		"no address":          func(c *Config) { c.BaseURL = "api.example.test" },
	} {
		c := good
		spoil(&c)
		if _, err := New(c, clock.System{}); err == nil || strings.Contains(err.Error(), "secret-text") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "cfg", good)
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v", good, good, good), log.String()} {
		if strings.Contains(shown, "PRIVATE") {
			t.Errorf("the key was shown: %s", shown)
		}
	}
}
