package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
)

// journal is a log that several goroutines write.
type journal struct {
	mu sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Buffer.Write(b)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.String()
}

// hidden is a program that hides the companies' secrets from operators, with all that an operator has
// seen.
type hidden struct {
	t       *testing.T
	handler http.Handler
	admin   string // an admin key
	second  string // the admin key of another operator
	log     *journal
	seen    []string
}

func (h *hidden) send(method, path, body string, header ...string) (int, string) {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// operate makes a request of an operator and returns the field of the response's data. If the request
// needs a second operator, that operator approves it.
func (h *hidden) operate(method, path, body string, want int, field string) string {
	h.t.Helper()
	status, text := h.send(method, "/admin/v1/"+path, body, "Authorization", "Bearer "+h.admin)
	h.seen = append(h.seen, text)
	if status == http.StatusAccepted {
		var waits struct{ Data struct{ ProposalID string } }
		if err := json.Unmarshal([]byte(text), &waits); err != nil {
			h.t.Fatal(err)
		}
		status, text = h.send(http.MethodPost, "/admin/v1/proposals/"+waits.Data.ProposalID+"/approve", "", "Authorization", "Bearer "+h.second)
		h.seen = append(h.seen, text)
	}
	if status != want {
		h.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	var answer struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(text), &answer); err != nil && field != "" {
		h.t.Fatal(err)
	}
	value, _ := answer.Data[field].(string)
	if field != "" && value == "" {
		h.t.Fatalf("%s %s has no %s: %s", method, path, field, text)
	}
	return value
}

// company makes a request of a company and returns the field of the response. No operator sees the
// response.
func (h *hidden) company(path, body string, want int, field string, header ...string) string {
	h.t.Helper()
	status, text := h.send(http.MethodPost, "/api/v1/"+path, body, header...)
	if status != want {
		h.t.Fatalf("%s: %d %s", path, status, text)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		h.t.Fatal(err)
	}
	value, _ := answer[field].(string)
	return value
}

// look makes every GET request of the operators' API about a company.
func (h *hidden) look(reference string) {
	h.t.Helper()
	_, text := h.send(http.MethodGet, "/admin/openapi.json", "")
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Paths) < 20 {
		h.t.Fatalf("%d paths, %v", len(doc.Paths), err)
	}
	for path, operations := range doc.Paths {
		if operations["get"] != nil {
			path = strings.NewReplacer("{reference}", reference, "{id}", "1").Replace(path)
			_, text := h.send(http.MethodGet, path, "", "Authorization", "Bearer "+h.admin)
			h.seen = append(h.seen, text)
		}
	}
}

// In live mode with four eyes, no response, log line, event or audit line that an operator can see
// holds an API key or a PIN of a company.
func TestOperatorsSeeNoSecretOfACompany(t *testing.T) {
	h := &hidden{t: t, log: &journal{}}
	ctx, log := context.WithoutCancel(t.Context()), slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, _, err := OpenDev(ctx, DevConfig(t.TempDir(), ""), false, log)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.cfg.Mode = Live // the providers stay those of the sandbox
	if h.handler, err = a.Handler(); err != nil {
		t.Fatal(err)
	}
	for name, admin := range map[string]*string{"ada": &h.admin, "bob": &h.second} {
		_, key, err := a.Operators.IssueKey(ctx, operator.Local("test"), name)
		if err != nil {
			t.Fatal(err)
		}
		*admin = key.Reveal()
	}

	token := h.operate("POST", "companies", `{"name":"Acme"}`, 200, "keyToken")
	var made struct{ Data struct{ Reference string } }
	if err := json.Unmarshal([]byte(h.seen[0]), &made); err != nil {
		t.Fatal(err)
	}
	reference := made.Data.Reference
	path := "companies/" + reference
	claim := func(token string, want int, field string) string {
		return h.company("auth/claim-key/"+reference, `{"keyToken":"`+token+`"}`, want, field)
	}
	first := claim(token, 200, "apiKey")
	second := claim(h.operate("POST", path+"/api-keys", `{"expiresAt":"2999-01-01T00:00:00Z"}`, 200, "keyToken"), 200, "apiKey")
	if said := claim(token, 400, "message"); said != "Key token was used already" {
		t.Error(said)
	}
	for _, status := range []string{"IN_PROGRESS", "SUBMITTED", "APPROVED"} {
		h.operate("POST", path+"/kyb", `{"status":"`+status+`"}`, 200, "")
	}
	h.operate("POST", path+"/live", `{"live":true}`, 200, "")
	login := []string{"Authorization", "Bearer " + h.company("auth/generate-token/"+reference, "", 200, "accessToken", "x-api-key", first)}
	h.operate("POST", path+"/pin", `{"pin":"1111"}`, 403, "")
	token = h.operate("POST", path+"/pin-reset", "", 200, "pinToken")
	h.company("company/pin", `{"pinToken":"`+token+`","pin":"7391"}`, 200, "", login...)
	h.company("company/pin", `{"currentPin":"7391","pin":"8462"}`, 200, "", login...)
	for range 5 {
		h.company("company/pin", `{"currentPin":"7391","pin":"8462"}`, 400, "", login...)
	}
	h.operate("POST", path+"/pin/unlock", "", 200, "")
	keys, err := a.Companies.Keys(ctx, reference)
	if err != nil || len(keys) != 2 {
		t.Fatal(keys, err)
	}
	h.operate("DELETE", path+"/api-keys/"+keys[1].ID, "", 200, "")
	h.company("auth/generate-token/"+reference, "", 401, "", "x-api-key", second)
	h.look(reference)

	for _, query := range []string{`SELECT kind || data FROM event`, `SELECT operator || action || subject || details FROM operator_audit`} {
		rows, err := db.All(ctx, a.DB, db.Value[string], query)
		if err != nil || len(rows) < 10 {
			t.Fatal(len(rows), err)
		}
		h.seen = append(h.seen, rows...)
	}
	h.seen = append(h.seen, strings.Split(h.log.text(), "\n")...)
	pin := regexp.MustCompile(`(^|[^0-9A-Za-z.-])(7391|8462|1111)([^0-9A-Za-z.-]|$)`)
	if !pin.MatchString(`{"pin":"7391"}`) {
		t.Fatal("a PIN is not found")
	}
	whole := strings.Join(h.seen, "\n")
	for _, shown := range []string{
		reference, "company.key.claim", "company.pin.lock", "company.token.failed", "company.claim.failed", `"operator":"ada"`, `"reference":"` + reference + `"`,
	} {
		if !strings.Contains(whole, shown) {
			t.Errorf("the operator does not see %s", shown)
		}
	}
	for _, text := range h.seen {
		if strings.Contains(text, first) || strings.Contains(text, second) || strings.Contains(text, "kobo_test_") || pin.MatchString(text) {
			t.Errorf("an operator sees: %s", text)
		}
	}
}
