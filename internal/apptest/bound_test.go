package apptest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// begun sends only the beginning of a request and returns the response. The program must respond
// before it gets the rest of the request.
func begun(t *testing.T, p *apptest.Program, text string) *http.Response {
	t.Helper()
	answer, _ := begunThen(t, p, text)
	return answer
}

// begunThen does the same as begun. It also reports whether the program closed the connection after
// the response.
func begunThen(t *testing.T, p *apptest.Program, text string) (answer *http.Response, ended bool) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.BaseURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // the response has been read
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	answer, err = http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	if !answer.Close {
		return answer, false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	return answer, err == io.EOF //nolint:errorlint // io.EOF itself, at the end of the connection
}

// On every path, a request whose Content-Length is over the limit is refused before its body is
// sent. After the response, the connection is closed.
func TestADeclaredBodyIsRefusedAtOnce(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	const over, huge = 64<<10 + 1, 10 << 20
	for _, c := range []struct {
		method, path, key string
		size, want        int
	}{
		{"POST", "/api/v1/auth/refresh-access-token", "", over, 413},
		{"POST", "/api/v1/customer/create", "", over, 413}, // without a token
		{"GET", "/api/v1/settlement/accounts", "", over, 413},
		{"POST", "/admin/v1/companies", p.AdminKey, over, 413},
		{"POST", "/admin/v1/companies", "", over, 413},
		{"GET", "/admin/v1/companies", p.AdminKey, huge, 413},
		{"GET", "/healthz", "", huge, 413},
		{"GET", "/readyz", "", huge, 413},
		{"GET", "/openapi.json", "", huge, 413},
		{"POST", "/nope", "", over, 413},
		{"POST", "/nope/../nope", "", over, 413},
		{"POST", "/sandbox/clock", "", over, 413},
		{"POST", p.App.Inbox.Path("safehaven"), "", over, 413},
		{"POST", "/callbacks/sudo", "", over, 413},
		{"POST", "/callbacks/tatum", "", 256<<10 + 1, 413},
		{"POST", "/callbacks/safehaven/x", "", over, 404},
		{"POST", "/callbacks/tatum/x", "", huge, 404},
		{"GET", "/callbacks/sudo", "", over, 405},
	} {
		answer, ended := begunThen(t, p, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			c.method, c.path, c.key, c.size))
		if answer.StatusCode != c.want || !ended {
			t.Errorf("%s %.20s: %d, ended %v", c.method, c.path, answer.StatusCode, ended)
		}
	}
}

// If a notification is over the rate limit, the program refuses it without reading its body.
func TestACallbackBeyondItsRateIsNotRead(t *testing.T) {
	p := apptest.Start(t, db.SQLite, func(c *app.Config) {
		c.Limits.Off, c.Limits.CallbacksPerSecond, c.Limits.CallbacksBurst = false, 1, 1
	})
	const text = "POST /callbacks/sudo HTTP/1.1\r\nHost: kobo\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	apptest.Eventually(t, func() string { // repeated until two requests arrive within the same second
		begun(t, p, fmt.Sprintf(text, 0))
		for _, size := range []int{100, 100 << 10} {
			if answer, ended := begunThen(t, p, fmt.Sprintf(text, size)); answer.StatusCode != http.StatusTooManyRequests || !ended {
				return fmt.Sprintf("%d bytes: %d, ended %v", size, answer.StatusCode, ended)
			}
		}
		return ""
	})
}

// The program refuses headers over the limit before it has read them all. Spaces around a value
// count towards the limit, although net/http removes them.
func TestEndlessHeadersAreRefused(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	const begin = "GET /healthz HTTP/1.1\r\nHost: kobo\r\nX-Long: "
	for name, text := range map[string]string{
		"34 KiB":         begin + strings.Repeat("a", 34<<10) + "\r\n\r\n",
		"40 KiB":         begin + strings.Repeat("a", 40<<10) + "\r\n\r\n",
		"no end":         begin + strings.Repeat("a", 80<<10),
		"50,000 spaces":  begin + strings.Repeat(" ", 50_000) + "b\r\n\r\n",
		"spaces at ends": begin + "b" + strings.Repeat(" ", 50_000) + "\r\n\r\n",
	} {
		if answer := begun(t, p, text); answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge || name == "34 KiB" && answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", name, answer.StatusCode, answer.Header)
		}
	}
}

// The sandbox controls accept only JSON bodies. A foreign web page cannot make a browser send JSON
// to the program.
func TestTheSandboxWantsJSON(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	const body = `{"advance":"1s"}`
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json"} {
		text := fmt.Sprintf("POST /sandbox/clock HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", media, len(body), body)
		if answer := begun(t, p, text); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %d", media, answer.StatusCode)
		}
	}
	if a := p.Do(http.MethodPost, "/sandbox/clock", map[string]string{"advance": "1s"}); a.Status != http.StatusOK {
		t.Errorf("JSON: %s", a)
	}
}
