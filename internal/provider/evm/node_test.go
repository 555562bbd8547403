package evm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/evm"
)

func nobodys(context.Context, string, []string) (map[string]bool, error) { return nil, nil }

// A URL may lead to a node of a different chain, at the start and at any later time. Nothing of that
// node is read. The reading goes on once the chain is right.
func TestANodeOfAnotherChainIsNotRead(t *testing.T) {
	var id atomic.Value
	id.Store("0x7a69")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := httptest.NewRecorder()
		stub(kept, r)
		_, _ = w.Write(bytes.ReplaceAll(kept.Body.Bytes(), []byte(`"0x7a69"`), []byte(`"`+id.Load().(string)+`"`)))
	}))
	defer server.Close()
	n := local()
	p := plug(t, n, server.URL, nil)
	start, err := p.Since(t.Context(), "", nobodys)
	if err != nil {
		t.Fatal(err)
	}
	next, err := p.Since(t.Context(), start.Cursor, nobodys)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"0x1", "0x0"} {
		id.Store(other)
		for _, cursor := range []string{"", start.Cursor} {
			b, err := p.Since(t.Context(), cursor, nobodys)
			if provider.AsError("", err).Code != provider.CodeWrongChain || b.Cursor != "" || len(b.Movements) > 0 || !strings.Contains(err.Error(), "31337") {
				t.Errorf("chain %s: %+v, %v", other, b, err)
			}
		}
		if at, err := p.Inclusion(t.Context(), n, "0xa1"); provider.AsError("", err).Code != provider.CodeWrongChain || at != (provider.Inclusion{}) {
			t.Errorf("chain %s: %+v, %v", other, at, err)
		}
		if at, of, err := p.Holdings(t.Context(), n, next.Cursor, []string{"0x0"}); provider.AsError("", err).Code != provider.CodeWrongChain || at != 0 || of != nil {
			t.Errorf("chain %s: %+v, %v", other, of, err)
		}
	}
	id.Store("0x7a69")
	if b, err := p.Since(t.Context(), next.Cursor, nobodys); err != nil || b.Cursor == "" {
		t.Errorf("the right chain again: %+v, %v", b, err)
	}
}

// limited is a stub node that takes a limited number of calls in one request.
type limited struct {
	most            atomic.Int64
	refused, single atomic.Int64
	status          int
	answer          string // the answer to a larger request; %d stands for the id of each call
}

func (l *limited) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var calls []json.RawMessage
	if json.Unmarshal(body, &calls) != nil {
		calls = []json.RawMessage{body}
		l.single.Add(1)
	}
	if int64(len(calls)) > l.most.Load() {
		l.refused.Add(1)
		w.WriteHeader(l.status)
		answer := l.answer
		if strings.Contains(answer, "%d") {
			all := make([]string, len(calls))
			for i := range all {
				all[i] = fmt.Sprintf(answer, i)
			}
			answer = "[" + strings.Join(all, ",") + "]"
		}
		_, _ = io.WriteString(w, answer)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	stub(w, r)
}

// Public nodes allow few calls in a request, and each refuses more in its own way. The batch size
// halves until the node takes it, and stays so for an hour.
func TestTheBatchShrinksToWhatTheNodeTakes(t *testing.T) {
	const object = `{"jsonrpc":"2.0","id":null,"error":{"code":-32014,"message":"maximum 10 calls in 1 batch"}}`
	for name, l := range map[string]*limited{
		"an object":         {status: 200, answer: object},
		"with HTTP 400":     {status: 400, answer: object},
		"with HTTP 500":     {status: 500, answer: object},
		"an array of one":   {status: 200, answer: `[{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"batch too large"}}]`},
		"too long a result": {status: 200, answer: `{"id":%d,"error":{"code":-32003,"message":"response too large"}}`},
		"HTTP 413":          {status: 413, answer: `<html>too large</html>`},
	} {
		for _, most := range []int64{10, 3, 1} {
			l.most.Store(most)
			l.refused.Store(0)
			l.single.Store(0)
			server := httptest.NewServer(l)
			c := clock.At(time.Unix(1_900_000_000, 0))
			p := plug(t, local(), server.URL, func(cfg *evm.Config) { cfg.Clock = c })
			p.Hurry()
			cursor := ""
			for range 8 {
				b, err := p.Since(t.Context(), cursor, nobodys)
				if err != nil {
					t.Fatalf("%s, %d calls: %v", name, most, err)
				}
				cursor = b.Cursor
			}
			if at, err := p.Inclusion(t.Context(), local(), "0xa1"); err != nil || !at.Found {
				t.Errorf("%s, %d calls: %+v, %v", name, most, at, err)
			}
			if n := l.refused.Load(); n == 0 || n > 5 || (most == 1) != (l.single.Load() > 20) {
				t.Errorf("%s, %d calls: %d refusals, %d single calls", name, most, n, l.single.Load())
			}
			before := l.refused.Load()
			for range 5 {
				if _, err := p.Since(t.Context(), cursor, nobodys); err != nil {
					t.Fatal(err)
				}
			}
			if l.refused.Load() != before {
				t.Errorf("%s, %d calls: the size grew at once", name, most)
			}
			l.most.Store(100)
			for range 6 {
				c.Advance(61 * time.Minute)
				if _, err := p.Since(t.Context(), "", nobodys); err != nil {
					t.Fatal(err)
				}
			}
			if now, _ := p.Sizes(); now != 50 {
				t.Errorf("%s, %d calls: the size is %d after six hours", name, most, now)
			}
			server.Close()
		}
	}
}

// An error is shown in the node's words, without the URL and its keys. The number of blocks in a
// read halves if the node refuses a call.
func TestANodesErrorIsShownInItsOwnWords(t *testing.T) {
	var say atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text, status := say.Load().(string), http.StatusOK
		if text == "" || !bytes.Contains(body, []byte("eth_getLogs")) && strings.HasPrefix(text, "[") {
			r.Body = io.NopCloser(bytes.NewReader(body))
			stub(w, r)
			return
		}
		if strings.HasPrefix(text, "[") { // an error to each call
			text = strings.Trim(text, "[]")
			var calls []json.RawMessage
			if json.Unmarshal(body, &calls) == nil {
				all := make([]string, len(calls))
				for i := range all {
					all[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
				}
				text = "[" + strings.Join(all, ",") + "]"
			} else {
				text = strings.ReplaceAll(text, "#", "0")
			}
		} else {
			status = http.StatusForbidden
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	defer server.Close()
	n := local(chain.Token{Symbol: "USDT", Contract: "0xdAC17F958D2ee523a2206206994597C13D831ec7", Decimals: 6})
	p := plug(t, n, server.URL+"/v3/the-secret-key?token=another-secret", nil)
	say.Store("")
	start, err := p.Since(t.Context(), "", nobodys)
	if err != nil {
		t.Fatal(err)
	}
	say.Store(`{"jsonrpc":"2.0","error":{"code":-32001,"message":"your plan at ` + server.URL + `/v3/the-secret-key has no archive, key the-secret-key, another-secret"}}`)
	_, err = p.Since(t.Context(), start.Cursor, nobodys)
	if text := fmt.Sprint(err); provider.AsError("", err).Code != "-32001" || !strings.Contains(text, "your plan at") || !strings.Contains(text, "has no archive") ||
		strings.Contains(text, "secret") || strings.Contains(text, strings.TrimPrefix(server.URL, "http://")) {
		t.Errorf("%v", err)
	}
	say.Store(`[{"id":#,"error":{"code":-32005,"message":"query returned more than 10 results"}}]`)
	for _, want := range []int{10, 5, 2, 1, 1} {
		if _, err = p.Since(t.Context(), start.Cursor, nobodys); err == nil || !strings.Contains(err.Error(), "eth_getLogs: query returned more than 10 results") {
			t.Errorf("%v", err)
		}
		if _, span := p.Sizes(); span != want {
			t.Errorf("%d blocks in a read, want %d", span, want)
		}
	}
	say.Store("")
	b, err := p.Since(t.Context(), start.Cursor, nobodys)
	if err != nil || !b.More {
		t.Errorf("%+v %v", b, err)
	}
}

// A node that is only asked too often gets the same request again. Its batch size stays.
func TestARateLimitDoesNotShrinkTheBatch(t *testing.T) {
	var left atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if left.Add(-1) >= 0 {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32016,"message":"over rate limit"},"id":null}`)
			return
		}
		stub(w, r)
	}))
	defer server.Close()
	p := plug(t, local(), server.URL, nil)
	p.Hurry()
	left.Store(2)
	at, err := p.Inclusion(t.Context(), local(), "0xa1")
	if batch, _ := p.Sizes(); err != nil || !at.Found || batch != 50 {
		t.Errorf("%+v %v, %d calls in a batch", at, err, batch)
	}
}
