package safehaven

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

const sold = `{"statusCode":200,"data":{"status":"successful"}}`

var airtime = provider.Purchase{Reference: "ref-1", Kind: provider.Airtime, Category: "c", Amount: 100, Phone: "08031234588"}

func TestManyShareOneToken(t *testing.T) {
	s := serve(t)
	s.says(200, []byte(sold))
	p := s.plug(t, s.config(), clock.At(noon))
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if a := p.Pay(t.Context(), airtime); a.Outcome != provider.Confirmed {
				t.Errorf("%+v", a)
			}
		})
	}
	all.Wait()
	if tokens, sent := s.seen(); tokens != 1 || len(sent) != 30 {
		t.Errorf("%d tokens for %d payments", tokens, len(sent))
	}
}

// Several callers may wait for one request for an access token. If one of them gives up, the
// request continues for the other callers.
func TestNobodyCancelsTheTokenOfOthers(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth2/token" {
			close(asked)
			<-release
			fmt.Fprint(w, `{"access_token":"a","ibs_client_id":"i","expires_in":3600}`)
			return
		}
		fmt.Fprint(w, `{"statusCode":200,"data":[]}`)
	}))
	defer server.Close()
	s := &recorded{Server: server}
	p := s.plug(t, s.config(), clock.At(noon))
	impatient, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	go func() { _, err := p.Services(impatient); errs <- err }()
	<-asked
	go func() { _, err := p.Services(t.Context()); errs <- err }()
	cancel()
	if err := <-errs; err == nil {
		t.Error("the impatient one got an answer")
	}
	close(release)
	if err := <-errs; err != nil {
		t.Errorf("the patient one got none: %v", err)
	}
}

func TestTokensEndAMinuteEarly(t *testing.T) {
	s := serve(t)
	s.says(200, []byte(sold))
	clk := clock.At(noon)
	p := s.plug(t, s.config(), clk)
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {58*time.Minute + 59*time.Second, 1}, {time.Second, 2}, {time.Minute, 2}} {
		clk.Advance(step.after)
		p.Pay(t.Context(), airtime)
		if tokens, _ := s.seen(); tokens != step.want {
			t.Errorf("%v later: %d tokens, want %d", step.after, tokens, step.want)
		}
	}
}

// After a 401 the plug drops the refused access token, but keeps a newer token. It repeats the
// request only one time.
func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	s := serve(t)
	s.says(http.StatusUnauthorized, []byte(`{"statusCode":401,"message":"no"}`))
	p := s.plug(t, s.config(), clock.At(noon))
	a := p.Pay(t.Context(), airtime)
	if tokens, sent := s.seen(); a.Outcome != provider.Rejected || len(sent) != 2 || tokens != 2 {
		t.Errorf("%+v after %d requests with %d tokens", a, len(sent), tokens)
	}
	old := session{access: "old"}
	p.session.now = session{access: "new", until: noon.Add(time.Hour)}
	p.session.drop(old)
	if _, ok := p.session.kept(); !ok {
		t.Error("the new token was dropped with the old one")
	}
}

// After a 401 the plug sends the payment a second time, since nothing was carried out. If the reply
// to the second try is lost, the outcome of the payment is Unknown.
func TestSecondTryLost(t *testing.T) {
	s := serve(t)
	first := true
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		if first {
			first = false
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		panic(http.ErrAbortHandler)
	}
	a := s.plug(t, s.config(), clock.At(noon)).Pay(t.Context(), airtime)
	if _, sent := s.seen(); a.Outcome != provider.Unknown || a.Code != provider.CodeConnection || len(sent) != 2 {
		t.Errorf("%+v after %d requests", a, len(sent))
	}
}

// A 401 that also says that the payment was made, or may be on its way, is not followed by a second payment.
func TestARefusedTokenWithASuccessIsNotSentAgain(t *testing.T) {
	for _, body := range []string{
		`{"statusCode":401,"responseCode":"00"}`,
		`{"statusCode":401,"data":{"responseCode":"00"}}`,
		`{"statusCode":401,"data":{"status":"Completed"}}`,
		`{"statusCode":401,"data":{"status":"SUCCESS"}}`,
		`{"statusCode":401,"data":{"_id":"t1","status":"Pending"}}`,
		`{"statusCode":401,"responseCode":"09"}`,
		`{"statusCode":401,"data":{"responseCode":"91"}}`,
		`{"statusCode":401,"data":{"status":"Declined"}}`,
	} {
		s := serve(t)
		s.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, body)
		}
		a := s.plug(t, s.config(), clock.At(noon)).Pay(t.Context(), airtime)
		if _, sent := s.seen(); a.Outcome != provider.Unknown || len(sent) != 1 {
			t.Errorf("%s: %+v after %d requests", body, a, len(sent))
		}
	}
}

// The same holds for each call that must leave once, whatever shows that the bank has begun it.
func TestWhatTheBankHasBegunIsNotSentAgain(t *testing.T) {
	for body, call := range map[string]func(p *Plug) provider.Answer{
		`{"statusCode":401,"data":{"_id":"t1","status":"Pending"}}`: func(p *Plug) provider.Answer {
			return p.Transfer(t.Context(), provider.TransferOrder{Reference: "r", Amount: 100}).Answer
		},
		`{"statusCode":401,"data":{"_id":"t1","queued":true}}`: func(p *Plug) provider.Answer {
			return p.Transfer(t.Context(), provider.TransferOrder{Reference: "r", Amount: 100}).Answer
		},
		`{"statusCode":401,"data":{"_id":"i1","status":"SUCCESS"}}`: func(p *Plug) provider.Answer {
			return p.Confirm(t.Context(), provider.IdentityConfirm{Session: "i1"}).Answer
		},
		`{"statusCode":401,"data":{"_id":"a1","status":"Pending"}}`: func(p *Plug) provider.Answer {
			return p.OpenAccount(t.Context(), provider.AccountRequest{Reference: "r", Phone: "08031234588"}).Answer
		},
		`{"statusCode":401,"data":{"_id":"a1","accountNumber":"8000000001"}}`: func(p *Plug) provider.Answer {
			return p.OpenAccount(t.Context(), provider.AccountRequest{Reference: "r", Phone: "08031234588"}).Answer
		},
	} {
		s := serve(t)
		s.says(http.StatusOK, []byte(body))
		a := call(s.plug(t, s.config(), clock.At(noon)))
		if _, sent := s.seen(); a.Outcome != provider.Unknown || len(sent) != 1 {
			t.Errorf("%s: %+v after %d requests", body, a, len(sent))
		}
	}
}

// Failed reads open the circuit breaker of reads, and further reads then fail immediately. A
// payment still gets an access token and is sent.
func TestFailingReadsDoNotStopPayments(t *testing.T) {
	s := serve(t)
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, sold)
	}
	clk := clock.At(noon)
	p := s.plug(t, s.config(), clk)
	for range 8 {
		if a := p.Requery(t.Context(), provider.Sale{Reference: "ref-1"}); a.Outcome != provider.Unknown {
			t.Errorf("%+v", a)
		}
	}
	clk.Advance(2 * time.Hour)
	if a := p.Pay(t.Context(), airtime); a.Outcome != provider.Confirmed {
		t.Errorf("%+v", a)
	}
}

func TestAssertion(t *testing.T) {
	var got tokenRequest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth2/token" {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			fmt.Fprint(w, `{"access_token":"a","ibs_client_id":"i","expires_in":"3600"}`)
			return
		}
		fmt.Fprint(w, sold)
	}))
	defer server.Close()
	s := &recorded{Server: server}
	s.plug(t, s.config(), clock.At(noon)).Pay(t.Context(), airtime)
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(keyPEM()))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.Parse(got.Assertion, func(*jwt.Token) (any, error) { return &key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(clock.At(noon.Add(4*time.Minute)).Now),
		jwt.WithIssuer("https://us.example.test"), jwt.WithSubject("oauth-1"), jwt.WithAudience(server.URL), jwt.WithExpirationRequired())
	if err != nil || parsed.Header["typ"] != "JWT" {
		t.Errorf("%v %v", parsed, err)
	}
	if got.GrantType != "client_credentials" || got.ClientID != "oauth-1" || got.AssertionType != assertionType {
		t.Errorf("%+v", got)
	}

	cfg := s.config()
	cfg.PrivateKeyPEM, cfg.Assertion = "", "signed.by.somebody"
	s.plug(t, cfg, clock.At(noon)).Pay(t.Context(), airtime)
	if got.Assertion != "signed.by.somebody" {
		t.Errorf("the static assertion became %q", got.Assertion)
	}
}

// If the plug gets no access token, it sends no payment. It reports the error code of the request
// for the token, and never the body of the response.
func TestNoToken(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"refused": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client","error_description":"eyJsecret"}`)
		},
		"wrapped":      func(w http.ResponseWriter) { fmt.Fprint(w, `{"data":{"access_token":"eyJsecret"}}`) },
		"no client id": func(w http.ResponseWriter) { fmt.Fprint(w, `{"access_token":"eyJsecret"}`) },
		"garbage":      func(w http.ResponseWriter) { fmt.Fprint(w, `eyJsecret`) },
		"their fault":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
	} {
		t.Run(name, func(t *testing.T) {
			var others atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/oauth2/token" {
					others.Add(1)
				}
				answer(w)
			}))
			defer server.Close()
			s := &recorded{Server: server}
			p := s.plug(t, s.config(), clock.At(noon))
			if a := p.Pay(t.Context(), airtime); a.Outcome != provider.Rejected || a.Code != provider.CodeNotSent {
				t.Errorf("pay: %+v", a)
			}
			if a := p.Requery(t.Context(), provider.Sale{Reference: "ref-1"}); a.Outcome != provider.Unknown || a.Missing {
				t.Errorf("requery: %+v", a)
			}
			if _, err := p.Services(t.Context()); err == nil || strings.Contains(err.Error(), "eyJ") {
				t.Errorf("services: %v", err)
			}
			if others.Load() != 0 {
				t.Error("something was sent without a token")
			}
		})
	}
}
