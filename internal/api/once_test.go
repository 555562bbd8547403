package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
)

// shop is a company with an access token and a product to buy.
type shop struct {
	url, access, category, product, settlement string
}

func (w *world) shop(t testing.TB) shop {
	t.Helper()
	_, url := w.serve(t)
	s := shop{url: url, settlement: w.given["settlement_id"]}
	_, text := send(t, "POST", url+"/api/v1/auth/generate-token/"+w.reference, "", "x-api-key", w.given["api_key"])
	s.access = field(t, text, "accessToken")
	_, text = send(t, "GET", url+"/api/v1/vtu/services", "", "Authorization", "Bearer "+s.access)
	text = text[strings.Index(text, `,"serviceName":"Data"`)-38:]
	service := text[strings.Index(text, `"`)+1:][:36]
	_, text = send(t, "GET", url+"/api/v1/vtu/service/"+service+"/categories", "", "Authorization", "Bearer "+s.access)
	s.category = field(t, text, "data", "0", "serviceCategoryId")
	_, text = send(t, "GET", url+"/api/v1/vtu/category/"+s.category+"/products", "", "Authorization", "Bearer "+s.access)
	s.product = field(t, text, "data", "0", "categoryProductId")
	return s
}

// field returns the string at a path in a JSON text.
func field(t testing.TB, text string, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			v = in[0]
		}
	}
	s, ok := v.(string)
	if !ok {
		t.Fatalf("no %q in %s", path, text)
	}
	return s
}

// buy sends a purchase. It returns the status and the body, and whether the response is a replay.
func (s shop) buy(t testing.TB, bodyKey, headerKey string) (int, string, bool) {
	t.Helper()
	header := []string{"Authorization", "Bearer " + s.access, "Content-Type", "application/json"}
	if headerKey != "" {
		header = append(header, "Idempotency-Key", headerKey)
	}
	answer, text := send(t, "POST", s.url+"/api/v1/vtu/purchase-data", fmt.Sprintf(
		`{"idempotencyKey":%q,"serviceCategoryId":%q,"productId":%q,"phoneNumber":"08012345678","settlementId":%s}`,
		bodyKey, s.category, s.product, s.settlement), header...)
	return answer.StatusCode, text, answer.Header.Get("Idempotent-Replayed") == "true"
}

// Twelve concurrent requests with the same key make only one purchase. Each 200 response shows that
// purchase. Every other response reports that a request with this key is in flight.
func TestOneKeyTwelveTimesAtOnce(t *testing.T) {
	for name, header := range map[string]string{"the body's key alone": "", "with a header": "one-header"} {
		t.Run(name, func(t *testing.T) {
			s := newWorld(t).shop(t)
			var all sync.WaitGroup
			var mu sync.Mutex
			told := map[string]int{}
			for range 12 {
				all.Go(func() {
					status, text, _ := s.buy(t, "one-order", header)
					mu.Lock()
					defer mu.Unlock()
					switch status {
					case 200:
						told[field(t, text, "data", "transactionId")]++
					case 409:
						told["in flight"]++
					default:
						t.Errorf("%d %s", status, text)
					}
				})
			}
			all.Wait()
			delete(told, "in flight")
			if len(told) != 1 {
				t.Errorf("want one purchase, got %v", told)
			}
			_, text := send(t, "GET", s.url+"/api/v1/settlement/accounts", "", "Authorization", "Bearer "+s.access)
			if !strings.Contains(text, `"balance":999900,`) {
				t.Errorf("charged more or less than once: %s", text)
			}
		})
	}
}

// A repeated request gets the stored response of the first request, byte for byte.
func TestAnAnswerIsReplayedToTheByte(t *testing.T) {
	s := newWorld(t).shop(t)
	_, first, _ := s.buy(t, "order-1", "header-1")
	_, again, replayed := s.buy(t, "order-1", "header-1")
	if !replayed || first != again {
		t.Errorf("%v\n%s\n%s", replayed, first, again)
	}
	// With a new Idempotency-Key header, the key in the body still finds the first purchase.
	_, second, replayed := s.buy(t, "order-1", "header-2")
	if replayed || field(t, second, "message") != "Duplicate request — returning existing transaction" {
		t.Error(second)
	}
	_, again, replayed = s.buy(t, "order-1", "header-2")
	if !replayed || second != again {
		t.Errorf("%v\n%s\n%s", replayed, second, again)
	}
}

func BenchmarkARequest(b *testing.B) {
	config, _ := broken{func() error { return nil }}.config()
	url := serve(b, config)
	b.ReportAllocs()
	for b.Loop() {
		if answer, text := send(b, "GET", url+"/api/v1/vtu/services", "", "Authorization", "Bearer let-me-in"); answer.StatusCode != 200 {
			b.Fatal(text)
		}
	}
}

// twins are two concurrent payout requests with the same Idempotency-Key. Both requests have found
// the key unused. The first request waits in its call of the provider until end is closed. Meanwhile the
// second request gets the result of the function other.
type twins struct {
	came             atomic.Int32
	both, begun, end chan struct{} // closed when both requests have arrived, when the first calls the provider, and when that call may end
	other            func() (any, error)
}

func (p *twins) around(send api.StrictHandlerFunc, operation string) api.StrictHandlerFunc {
	if operation != "SendPayout" {
		return send
	}
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		if p.came.Add(1) == 1 {
			<-p.both
			return send(context.WithValue(ctx, holdKey{}, p.hold), w, r, request)
		}
		close(p.both)
		<-p.begun
		return p.other()
	}
}

func (p *twins) hold() {
	close(p.begun)
	<-p.end
}

// Two equal payout requests run concurrently. While the first request waits for the provider, the
// second request gets a 409 and not its own result, because the first may end differently.
func TestASecondEqualRequestHearsThatTheFirstIsInFlight(t *testing.T) {
	for name, other := range map[string]func() (any, error){
		"a refusal":  func() (any, error) { return nil, fault.New(fault.Refused, "Insufficient balance") },
		"no such id": func() (any, error) { return nil, fault.New(fault.Missing, "Not found") },
		"a success": func() (any, error) {
			return api.SendPayout200JSONResponse{Status: "success", Message: "Payout successful"}, nil
		},
		"a failure": func() (any, error) {
			return nil, fault.New(fault.Refused, "Payout failed. Your balance has been refunded.")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, pair := newWorld(t), &twins{both: make(chan struct{}), begun: make(chan struct{}), end: make(chan struct{}), other: other}
			w.Around = []api.StrictMiddlewareFunc{pair.around}
			s := w.shop(t)
			header := []string{"Authorization", "Bearer " + s.access, "Content-Type", "application/json", "Idempotency-Key"}
			_, text := send(t, "POST", s.url+"/api/v1/settlement/validate-account", fmt.Sprintf(
				`{"bank_code":"000014","account_number":"0123456789","pin":"1234","fromSettlementId":%s}`, s.settlement), append(header, "look")...)
			order := fmt.Sprintf(`{"verify_id":%q,"amount":100}`, field(t, text, "data", "id"))
			pay := func() (int, string) {
				answer, text := send(t, "POST", s.url+"/api/v1/settlement/send-payout", order, append(header, "one")...)
				return answer.StatusCode, text
			}
			said := make(chan string, 2)
			for range 2 {
				go func() {
					status, text := pay()
					said <- fmt.Sprint(status, " ", text)
				}()
			}
			if got := <-said; !strings.HasPrefix(got, "409 ") {
				t.Errorf("the other was answered %s", got)
			}
			close(pair.end)
			kept := <-said
			if status, text := pay(); !strings.HasPrefix(kept, "200 ") || fmt.Sprint(status, " ", text) != kept {
				t.Errorf("the first was answered %s, and its repetition %d %s", kept, status, text)
			}
		})
	}
}
