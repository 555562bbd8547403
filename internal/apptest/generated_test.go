package apptest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// usualRequests is the number of generated requests of a test run. `make fuzz-requests` sets another one.
const usualRequests = 4_000

const (
	// clients is the number of requests at a time. Many of them wait for a provider whose answer is lost.
	clients = 32
	// window is the deadline of the calls of providers. On a machine with much other work a shorter one
	// ends calls that nothing is wrong with, and the answer is a 503.
	window = 5 * time.Second
)

// unused are the operations that would end the test: they take away its key, or its right to act alone.
var unused = []string{"revokeAPIKey", "setTwoPeople", "setPIN", "claimKey", "metrics"}

// Whatever a company sends, the program answers as the contract says, stays up, and the books stay right.
// The requests are generated from the contract, half of them with mistakes.
func TestGeneratedRequestsGetAnswersOfTheContract(t *testing.T) {
	count := usualRequests
	if text := os.Getenv("KOBO_TEST_REQUESTS"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	contract, err := apitest.ReadContract(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(window), func(c *app.Config) { c.Limits.Off = true })
		awaitReadiness(t, p, http.StatusOK) // its workers begin after the port is open, and /readyz is among the requests
		g := apitest.Share(contract.Generate(seed(t), func(id string) bool { return !slices.Contains(unused, id) }, map[string]any{
			"pin": p.PIN, "settlementId": float64(p.SettlementID), "fromSettlementId": float64(p.SettlementID), "reference": p.Reference, "companyReference": p.Reference, "x-api-key": p.APIKey,
		}))
		var seen tally
		var workers sync.WaitGroup
		left := make(chan struct{}, count)
		for range count {
			left <- struct{}{}
		}
		close(left)
		for range clients {
			workers.Go(func() {
				for range left {
					if err := seen.ask(t.Context(), p.Client, contract, g); err != nil && seen.failed(err) {
						t.Error(err)
					}
				}
			})
		}
		workers.Wait()
		t.Log(seen.String())
		seen.enough(t, contract)
	})
}

// tally counts the statuses of the answers, and which operations have succeeded.
type tally struct {
	mu        sync.Mutex
	statuses  map[int]int
	succeeded map[string]int
	asked     int
	failures  map[string]bool
}

// mostFailures is the number of failures that are shown, each with another text at its end.
const mostFailures = 20

// failed reports whether a failure is a new one, which the test shows.
func (y *tally) failed(err error) bool {
	text := err.Error()
	_, text, _ = strings.Cut(text, "answers ")
	text = err.Error()[:min(len(err.Error()), 60)] + text[:min(len(text), 160)]
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.failures == nil {
		y.failures = map[string]bool{}
	}
	isNew := !y.failures[text] && len(y.failures) < mostFailures
	y.failures[text] = true
	return isNew
}

// ask sends a generated request, and compares the answer with the contract.
func (y *tally) ask(ctx context.Context, c *apptest.Client, contract *apitest.Contract, g *apitest.Shared) error {
	r := g.Next()
	a, err := c.Try(ctx, r.Method, r.Target, r.Body, r.Headers...)
	var address *url.Error
	if errors.As(err, &address) && strings.Contains(err.Error(), "invalid") {
		return nil // the client of net/http sends no such request
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	sent, err := http.NewRequestWithContext(ctx, r.Method, c.BaseURL+r.Target, io.NopCloser(bytes.NewReader(nil)))
	if err != nil {
		return err
	}
	if r.Method != http.MethodHead {
		if err := contract.Check(sent, a.Status, a.Header, []byte(a.Body)); err != nil {
			return fmt.Errorf("%s\nanswers %s: %w", r, a, err)
		}
	}
	if a.Status >= http.StatusInternalServerError && !y.mayFail(contract, r, a.Status) {
		return fmt.Errorf("%s\nanswers %s", r, a)
	}
	if a.Status < http.StatusMultipleChoices {
		g.Learn(r, []byte(a.Body))
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.statuses == nil {
		y.statuses, y.succeeded = map[int]int{}, map[string]int{}
	}
	y.asked++
	y.statuses[a.Status]++
	if a.Status < http.StatusMultipleChoices {
		y.succeeded[contract.Operation(sent.Method, sent.URL.EscapedPath())]++
	}
	if y.asked%500 == 0 {
		return y.unlock(ctx, c)
	}
	return nil
}

// mayFail reports whether the specification wants the status: 500 for a KYC without its session id, and 503 if the
// bank does not answer a name enquiry in time.
func (y *tally) mayFail(contract *apitest.Contract, r apitest.Request, status int) bool {
	path, _, _ := strings.Cut(r.Target, "?")
	id := contract.Operation(r.Method, path)
	var sent struct {
		Session *string `json:"session_id"`
	}
	hasSession := json.Unmarshal([]byte(r.Body), &sent) == nil && sent.Session != nil
	return id == "retryCorporateOtp" && status == http.StatusInternalServerError && !hasSession ||
		(id == "validateAccount" || id == "openBulkPayout") && status == http.StatusServiceUnavailable
}

// unlock makes the PIN work again, which wrong ones have locked.
func (y *tally) unlock(ctx context.Context, c *apptest.Client) error {
	_, err := c.Raw(ctx, http.MethodPost, "/admin/v1/companies/"+c.Reference+"/pin/unlock", nil, "Authorization", "Bearer "+c.AdminKey)
	return err
}

func (y *tally) String() string {
	var out []string
	for _, status := range slices.Sorted(maps.Keys(y.statuses)) {
		out = append(out, fmt.Sprintf("%d: %d", status, y.statuses[status]))
	}
	return fmt.Sprintf("%d requests, %d operations have succeeded; %s", y.asked, len(y.succeeded), strings.Join(out, ", "))
}

// enough fails the test if most operations never succeed: then the requests would prove little.
func (y *tally) enough(t *testing.T, contract *apitest.Contract) {
	t.Helper()
	var never []string
	for _, id := range contract.Operations() {
		if y.succeeded[id] == 0 {
			never = append(never, id)
		}
	}
	t.Logf("never succeeded: %v", never)
	if len(never) > len(contract.Operations())/2 {
		t.Errorf("%d of %d operations never succeed", len(never), len(contract.Operations()))
	}
}
