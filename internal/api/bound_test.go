package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
)

// The first line and the headers of a request may have at most 32 KiB.
func TestHeadersAreBounded(t *testing.T) {
	config, _ := broken{func() error { return fault.New(fault.Missing, "none") }}.config()
	url := serve(t, config)
	probe := func(n int) (*http.Response, string) {
		return send(t, "GET", url+"/nowhere", "", "X-Long", strings.Repeat("a", n), "User-Agent", "test", "Accept-Encoding", "identity")
	}
	line := len("GET /nowhere HTTP/1.1\r\n") + len("Host: ") + len(strings.TrimPrefix(url, "http://")) + len("\r\n") +
		len("User-Agent: test\r\n") + len("Accept-Encoding: identity\r\n") + len("X-Long: \r\n")
	if answer, text := probe(api.MaxHeader - line); answer.StatusCode != http.StatusNotFound {
		t.Errorf("32 KiB: %d %s", answer.StatusCode, text)
	}
	answer, text := probe(api.MaxHeader - line + 1)
	if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge || answer.Header.Get("X-Request-Id") == "" ||
		text != `{"status":"error","message":"Request headers are larger than 32 KiB"}`+"\n" {
		t.Errorf("a byte more: %d %v %s", answer.StatusCode, answer.Header, text)
	}
}

// One address may send only a limited number of requests to the callback path of one provider.
// Requests to other paths do not count towards this limit. Each second allows one more request.
func TestCallbacksAreBounded(t *testing.T) {
	config, _ := broken{func() error { return fault.New(fault.Missing, "none") }}.config()
	now := clock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	reached := 0
	door := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ })
	one := api.Limit{Requests: 1, Period: time.Second, Burst: 1}
	config.Clock, config.Limits = now, &api.Limits{Company: one, Token: one, Callbacks: api.Limit{Requests: 10, Period: time.Second, Burst: 30}}
	config.Mounts = map[string]http.Handler{"POST /callbacks/{provider}/{secret}": door, "POST /callbacks/{provider}": door}
	url := serve(t, config)
	for i := range 30 {
		if answer, text := send(t, "POST", url+"/callbacks/bank/secret", "{}"); answer.StatusCode != http.StatusOK {
			t.Errorf("%d of a burst: %d %s", i, answer.StatusCode, text)
		}
	}
	answer, text := send(t, "POST", url+"/callbacks/bank/guess", "{}")
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "1" || reached != 30 {
		t.Errorf("one more: %d %v %s, %d came through", answer.StatusCode, answer.Header, text, reached)
	}
	if answer, _ := send(t, "POST", url+"/callbacks/cards", "{}"); answer.StatusCode != http.StatusOK {
		t.Errorf("another provider: %d", answer.StatusCode)
	}
	now.Advance(time.Second)
	for range 10 {
		if answer, _ := send(t, "POST", url+"/callbacks/bank/secret", "{}"); answer.StatusCode != http.StatusOK {
			t.Errorf("a second later: %d", answer.StatusCode)
		}
	}
	if answer, _ := send(t, "POST", url+"/callbacks/bank/secret", "{}"); answer.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the eleventh of that second: %d", answer.StatusCode)
	}
}
