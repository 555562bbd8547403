package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/payout"
)

// shop is a company in the world with its tokens and something to buy.
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

// field is a text inside a JSON text.
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

// buy sends a purchase and returns its status, body and whether it was replayed.
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

// Twelve requests with one key at once: one purchase, and everyone who gets a
// 200 is told of the same one. The rest hear that it is in flight.
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

// The first answer is kept to the byte, whichever way it was given.
func TestAnAnswerIsReplayedToTheByte(t *testing.T) {
	s := newWorld(t).shop(t)
	_, first, _ := s.buy(t, "order-1", "header-1")
	_, again, replayed := s.buy(t, "order-1", "header-1")
	if !replayed || first != again {
		t.Errorf("%v\n%s\n%s", replayed, first, again)
	}
	// The body's key keeps its own meaning under another header.
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

// twins are payouts of which two requests with one key have passed the look at
// the key. One begins a payout, and meanwhile the other comes to its own answer.
type twins struct {
	api.Payouts
	book  *ledger.Book
	clock clock.Clock

	mu          sync.Mutex
	came        int
	both, begun chan struct{} // closed when both are in, and when the first has begun
	end         chan struct{} // closed when the first may end
	other       func() (payout.Payout, error)
}

func (w *twins) Send(ctx context.Context, o payout.Order) (payout.Payout, error) {
	w.mu.Lock()
	w.came++
	first := w.came == 1
	w.mu.Unlock()
	if !first {
		close(w.both)
		<-w.begun
		return w.other()
	}
	<-w.both
	sent := payout.Payout{Sent: payout.Sent{Reference: o.VerifyID, Status: payout.Success, Amount: o.Amount}}
	begin, end := ledger.For(o.Company), ledger.For(o.Company)
	o.Key.Begin(&begin, sent.Reference, w.clock.Now().Add(time.Minute))
	if err := w.book.Commit(ctx, begin); err != nil {
		return sent, err
	}
	close(w.begun)
	<-w.end
	o.Key.Finish(&end, sent, nil)
	return sent, w.book.Commit(ctx, end)
}

// One of two equal requests is at work. Whatever the other would say may be
// contradicted by the first, so the other hears that the first is at work.
func TestTheOtherOfTwoEqualRequestsSaysNothingOfItsOwn(t *testing.T) {
	for name, other := range map[string]func() (payout.Payout, error){
		"a refusal": func() (payout.Payout, error) {
			return payout.Payout{}, fault.New(fault.Refused, "Insufficient balance")
		},
		"no such id": func() (payout.Payout, error) { return payout.Payout{}, fault.New(fault.Missing, "Not found") },
		"a success": func() (payout.Payout, error) {
			return payout.Payout{Sent: payout.Sent{Reference: "other", Status: payout.Success}}, nil
		},
		"a failure": func() (payout.Payout, error) {
			return payout.Payout{Sent: payout.Sent{Reference: "other", Status: payout.Failed}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pair := &twins{
				Payouts: w.Payouts, book: ledger.New(w.db, w.clock), clock: w.clock, other: other,
				both: make(chan struct{}), begun: make(chan struct{}), end: make(chan struct{}),
			}
			t.Cleanup(pair.book.Drain)
			w.Payouts = pair
			s := w.shop(t)
			pay := func() (int, string) {
				answer, text := send(t, "POST", s.url+"/api/v1/settlement/send-payout", `{"verify_id":"9b2c7f0e-5d1a-4f0b-8f6d-2f1f6f0a7c11","amount":100}`,
					"Authorization", "Bearer "+s.access, "Content-Type", "application/json", "Idempotency-Key", "one")
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
