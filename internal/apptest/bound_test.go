package apptest_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// begun sends the beginning of a request and reads the answer, which must come
// though the rest never does.
func begun(t *testing.T, p *apptest.Program, text string) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.BaseURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it has been read
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	return answer
}

// A body that says it is too long is refused before any of it is sent.
func TestADeclaredBodyIsRefusedAtOnce(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	for path, size := range map[string]int{
		"/api/v1/auth/refresh-access-token": 64<<10 + 1,
		"/admin/v1/companies":               64<<10 + 1,
		p.App.Inbox.Path("safehaven"):       64<<10 + 1,
		"/callbacks/sudo":                   64<<10 + 1,
		"/callbacks/tatum":                  256<<10 + 1,
		"/sandbox/clock":                    64<<10 + 1,
	} {
		answer := begun(t, p, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: kobo\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			path, p.AdminKey, size))
		if answer.StatusCode != http.StatusRequestEntityTooLarge || !answer.Close {
			t.Errorf("%.20s: %d, close %v", path, answer.StatusCode, answer.Close)
		}
	}
}

// Headers beyond what is read at all are refused without the rest of them.
func TestEndlessHeadersAreRefused(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	for _, size := range []int{40 << 10, 80 << 10} {
		text := "GET /healthz HTTP/1.1\r\nHost: kobo\r\nX-Long: " + strings.Repeat("a", size)
		if size < 64<<10 {
			text += "\r\n\r\n"
		}
		if answer := begun(t, p, text); answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%d bytes: %d", size, answer.StatusCode)
		}
	}
}

// A page of a stranger may have a browser post what is not JSON, and no more.
func TestTheSandboxWantsJSON(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	const body = `{"advance":"1s"}`
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json"} {
		text := fmt.Sprintf("POST /sandbox/clock HTTP/1.1\r\nHost: kobo\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", media, len(body), body)
		if answer := begun(t, p, text); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %d", media, answer.StatusCode)
		}
	}
	if a := p.Do(http.MethodPost, "/sandbox/clock", map[string]string{"advance": "1s"}); a.Status != http.StatusOK {
		t.Errorf("JSON: %s", a)
	}
}
