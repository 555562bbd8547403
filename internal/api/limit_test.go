package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/peer"
)

// limited is an API with rate limits. From one address, sixty requests for tokens may fail in a
// minute, and two of them in immediate succession. A company may send three requests in immediate
// succession. Tests refer to companies by name, and the first use of a name creates the company.
type limited struct {
	t         *testing.T
	h         http.Handler
	log       *lines
	clock     *clock.Manual
	companies *company.Service
	known     map[string]*caller // by name
}

// caller is a company with its credentials.
type caller struct {
	reference string
	keys      map[string]string // by the test's names for the keys, "right" and "new"
	refresh   []string          // every refresh token; only the last one is valid
}

func newLimited(t *testing.T) *limited { return newLimitedBy(t, nil) }

func newLimitedBy(t *testing.T, programs func() int) *limited {
	config, log := broken{func() error { return nil }}.config()
	l := &limited{t: t, log: log, clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), known: map[string]*caller{}}
	d, ring, book := stand(t, l.clock)
	l.companies = company.New(d, book, ring, l.clock)
	config.Companies, config.Around = l.companies, nil
	config.Clock, config.Limits = l.clock, &api.Limits{
		Company: api.Limit{Requests: 1, Period: time.Second, Burst: 3}, Token: api.Limit{Requests: 60, Period: time.Minute, Burst: 2},
		Callbacks: api.Limit{Requests: 1, Period: time.Second, Burst: 3}, Programs: programs,
	}
	config.Mounts = map[string]http.Handler{"POST /callbacks/{provider}": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	var err error
	if config.Proxies, err = peer.Parse([]string{"10.0.0.0/8"}); err != nil {
		t.Fatal(err)
	}
	if l.h, err = api.New(config); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *limited) caller(name string) *caller {
	l.t.Helper()
	if c := l.known[name]; c != nil {
		return c
	}
	reference, key := live(l.t, l.companies, "Company "+name)
	_, another, err := l.companies.IssueKey(l.t.Context(), me, reference, time.Time{})
	if err != nil {
		l.t.Fatal(err)
	}
	l.known[name] = &caller{reference: reference, keys: map[string]string{"right": key, "new": another.Reveal()}}
	return l.known[name]
}

// ask requests tokens with an API key from an address, and expects the status want. The values in
// forwarded are sent as X-Forwarded-For.
func (l *limited) ask(want int, address, name, key string, forwarded ...string) *httptest.ResponseRecorder {
	l.t.Helper()
	c := l.caller(name)
	r := httptest.NewRequest("POST", "/api/v1/auth/generate-token/"+c.reference, nil)
	r.RemoteAddr = address
	r.Header.Set("x-api-key", cmp.Or(c.keys[key], key))
	for _, line := range forwarded {
		r.Header.Add("X-Forwarded-For", line)
	}
	w := httptest.NewRecorder()
	l.h.ServeHTTP(w, r)
	if w.Code != want {
		l.t.Errorf("%s %s %s %v: %d %s; want %d", address, name, key, forwarded, w.Code, w.Body, want)
	}
	if w.Code == http.StatusOK {
		c.refresh = append(c.refresh, field(l.t, w.Body.String(), "refreshToken"))
	}
	return w
}

const one, two = "one", "two"

// A valid key is accepted after any number of failures from the same address and for the same
// company. This holds even when the key is used for the first time. Each wrong key counts as one
// failure.
func TestARightKeyIsNotRefusedForFailures(t *testing.T) {
	l := newLimited(t)
	for range 2 {
		l.ask(401, "192.0.2.1:1", one, "wrong")
	}
	for range 5 { // over the limit, the response no longer states that the key is wrong
		l.ask(429, "192.0.2.1:1", one, "wrong")
		l.ask(429, "192.0.2.1:1", two, "wrong")
	}
	l.ask(200, "192.0.2.1:1", one, "new")
	l.ask(200, "192.0.2.1:1", one, "right")
	l.ask(200, "192.0.2.1:1", two, "new")
	l.ask(200, "192.0.2.2:1", one, "new")
	l.clock.Advance(time.Second)
	l.ask(401, "192.0.2.1:1", one, "wrong")
	l.ask(429, "192.0.2.1:1", two, "wrong")
}

// A callback path with an invented provider name gets no rate-limit bucket. Otherwise a caller
// could use many names to evict the buckets of other callers.
func TestInventedNamesHaveNoBuckets(t *testing.T) {
	l := newLimited(t)
	ask := func(method, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.RemoteAddr = "192.0.2.1:1"
		w := httptest.NewRecorder()
		l.h.ServeHTTP(w, r)
		return w
	}
	heard := map[int]int{}
	for i := range 20 {
		heard[ask("POST", fmt.Sprint("/callbacks/x", i)).Code]++
	}
	if heard[200] != 3 || heard[429] != 17 {
		t.Errorf("under twenty names: %v", heard)
	}
	for method, path := range map[string]string{"GET": "/callbacks/y", "POST": "/callbacks/y/z"} {
		if w := ask(method, path); w.Code == 429 || w.Header().Get("RateLimit-Limit") != "" {
			t.Errorf("%s %s: %d %v", method, path, w.Code, w.Header())
		}
	}
}

// Failed requests for tokens are counted for the caller's address. For IPv6 this is the caller's
// network, and behind a trusted proxy it is the address that the proxy reports.
func TestFailuresCountForTheClient(t *testing.T) {
	l := newLimited(t)
	l.ask(401, "[2001:db8::1]:1", "x", "wrong")
	l.ask(401, "[2001:db8::2]:9", "y", "wrong")
	l.ask(429, "[2001:db8::3]:9", "z", "wrong")
	l.ask(401, "[2001:db8:0:1::1]:1", "z", "wrong")
	for i, want := range []int{401, 401, 429} {
		l.ask(want, "10.0.0.1:1", one, "wrong", "6.6.6."+string(rune('0'+i))+", 192.0.2.1")
	}
	l.ask(401, "10.0.0.2:1", one, "wrong", "192.0.2.2, 10.0.0.1")
	if text := l.log.String(); strings.Contains(text, "trusted_proxies") || !strings.Contains(text, `"address":"192.0.2.2"`) || strings.Contains(text, "6.6.6") {
		t.Error(text)
	}
	for i, want := range []int{401, 401, 429} { // a header from an untrusted proxy is ignored
		l.ask(want, "203.0.113.5:1", one, "wrong", "192.0.2.1"+string(rune('0'+i)))
	}
	if text := l.log.String(); strings.Count(text, "trusted_proxies") != 1 || !strings.Contains(text, `"level":"WARN"`) || !strings.Contains(text, `"address":"203.0.113.5"`) {
		t.Errorf("want one warning:\n%s", text)
	}
}

// A request for tokens counts towards the limit of the company only if it succeeds.
func TestTokensHaveTheCompanysLimit(t *testing.T) {
	l := newLimited(t)
	l.ask(401, "192.0.2.1:1", one, "wrong")
	for _, left := range []string{"2", "1", "0"} {
		w := l.ask(200, "192.0.2.1:1", one, "right")
		if h := w.Header(); h.Get("RateLimit-Limit") != "3" || h.Get("RateLimit-Remaining") != left {
			t.Errorf("%v", h)
		}
	}
	w := l.ask(429, "192.0.2.1:1", one, "right")
	if h := w.Header(); h.Get("Retry-After") != "1" || strings.TrimSpace(w.Body.String()) != `{"message":"Too many requests"}` {
		t.Errorf("%v %s", h, w.Body)
	}
	l.ask(200, "192.0.2.1:1", two, "right")
	wrong, right := l.caller(one).refresh[0], l.caller(one).refresh[2]
	refresh := func(want int, token string) {
		t.Helper()
		r := httptest.NewRequest("POST", "/api/v1/auth/refresh-access-token/", strings.NewReader(`{"refreshToken":"`+token+`"}`))
		r.RemoteAddr = "192.0.2.7:1"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if l.h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d %s", token, w.Code, w.Body)
		}
	}
	refresh(429, right)
	l.clock.Advance(time.Second)
	for _, want := range []int{401, 401, 429} {
		refresh(want, wrong)
	}
	refresh(200, right)
}

// The rate-limit headers of a failed request for tokens show the limit of the caller's address.
// After exactly the seconds in Retry-After, the next request is not over the limit.
func TestTheHeadersOfAFailure(t *testing.T) {
	l := newLimited(t)
	for _, want := range []struct {
		status                         int
		limit, remaining, reset, retry string
	}{{401, "2", "1", "1", ""}, {401, "2", "0", "2", ""}, {429, "2", "0", "2", "1"}} {
		h := l.ask(want.status, "192.0.2.1:1", one, "wrong").Header()
		if h.Get("RateLimit-Limit") != want.limit || h.Get("RateLimit-Remaining") != want.remaining || h.Get("RateLimit-Reset") != want.reset || h.Get("Retry-After") != want.retry {
			t.Errorf("%+v: %v", want, h)
		}
	}
	l.clock.Advance(time.Second)
	l.ask(401, "192.0.2.1:1", one, "wrong")
	if _, err := api.New(api.Config{Clock: l.clock, Limits: &api.Limits{}}); err == nil {
		t.Error("limits of nothing were taken")
	}
}

// Operators set the requests per second of a company. The burst keeps its proportion. The new limit
// takes effect when the program reads the company again, and also applies to requests for tokens.
func TestACompanysOwnLimit(t *testing.T) {
	l := newLimited(t)
	limitOf := func(name string) string {
		t.Helper()
		w := l.ask(200, "192.0.2.1:1", name, "right")
		return w.Header().Get("RateLimit-Limit") + " " + w.Header().Get("RateLimit-Remaining") + " " + w.Header().Get("RateLimit-Reset")
	}
	set := func(requests int64) {
		t.Helper()
		if c, err := l.companies.SetPerSecond(t.Context(), me, l.caller(one).reference, requests); err != nil || c.PerSecond != requests {
			t.Fatal(c, err)
		}
	}
	for i, want := range []string{"3 2 1", "3 1 2", "3 0 3"} {
		if got := limitOf(one); got != want {
			t.Errorf("%d: %s", i, got)
		}
	}
	l.ask(429, "192.0.2.1:1", one, "right")
	set(20)
	l.clock.Advance(time.Second)
	if got := limitOf(one); got != "60 0 3" { // the second gave one token of the former limit
		t.Error(got)
	}
	l.clock.Advance(time.Second)
	if got := limitOf(one); got != "60 19 3" {
		t.Error(got)
	}
	if got := limitOf(two); got != "3 2 1" {
		t.Error("another company: " + got)
	}
	set(0)
	if got := limitOf(one); got != "3 2 1" {
		t.Error("the usual limit again: " + got)
	}
	for _, requests := range []int64{-1, 1_000_001} {
		if _, err := l.companies.SetPerSecond(t.Context(), me, l.caller(one).reference, requests); !fault.Is(err, fault.Invalid) {
			t.Error(requests, err)
		}
	}
}

// Several programs share the limit of a company equally. Each has at least one request at once, and the limit of
// failed requests for tokens is not divided.
func TestProgramsShareTheLimitOfACompany(t *testing.T) {
	programs := 1
	l := newLimitedBy(t, func() int { return programs })
	ask := func(status int) string {
		t.Helper()
		h := l.ask(status, "192.0.2.1:1", one, "right").Header()
		return h.Get("RateLimit-Limit") + " " + h.Get("RateLimit-Remaining")
	}
	if got := ask(200); got != "3 2" {
		t.Error(got)
	}
	programs = 3 // each has a burst of 1 and a token in three seconds
	if got := ask(200); got != "1 0" {
		t.Error(got)
	}
	l.clock.Advance(3*time.Second - time.Millisecond)
	ask(429)
	l.clock.Advance(time.Millisecond)
	ask(200)
	programs = 1
	l.clock.Advance(3 * time.Second) // a bucket fills at the former rate until its next request
	if got := ask(200); got != "3 0" {
		t.Error(got)
	}
	programs = 9
	l.clock.Advance(10 * time.Second)
	if got := ask(200); got != "1 0" {
		t.Error(got)
	}
	l.clock.Advance(9 * time.Second)
	if h := l.ask(401, "192.0.2.1:1", one, "wrong").Header(); h.Get("RateLimit-Limit") != "2" {
		t.Error(h)
	}
}
