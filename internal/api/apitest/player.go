package apitest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Player plays transcripts against one server.
type Player struct {
	base     string
	client   *http.Client
	contract *Contract
	given    func(t testing.TB) map[string]string
}

// New returns a player for the server at base (scheme, host and port). The player calls given once
// for each file. That function returns the values of the transcript: base_url, the values of the
// main company (reference, api_key and settlement_id), and the values from Stage.Cast. The player
// adds the value "run", which differs for each file. Transcripts use it to make new keys.
func New(t testing.TB, base string, given func(t testing.TB) map[string]string) *Player {
	t.Helper()
	p := &Player{base: base, given: given, client: &http.Client{
		Timeout:       40 * time.Second, // a long poll may take 30 seconds
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	answer, err := p.client.Get(base + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		// Each server names its own address in the document. Without it, they all serve the same document.
		p.contract, err = ReadContract(bytes.ReplaceAll(text, []byte(base), []byte("http://kobo.example")))
	}
	if err != nil {
		t.Fatalf("the contract at /openapi.json: %v", err)
	}
	return p
}

// Play plays a transcript. It stops at the first exchange that fails, because each exchange may
// depend on earlier exchanges.
func (p *Player) Play(t *testing.T, files fs.FS, name string) {
	exchanges, err := Read(files, name)
	if err != nil {
		t.Fatal(err)
	}
	v := values(p.given(t))
	v["run"] = strings.ToLower(rand.Text()[:12])
	for _, e := range exchanges {
		ok := t.Run(e.Title, func(t *testing.T) {
			if err := p.exchange(t.Context(), e, v); err != nil {
				t.Fatal(err)
			}
		})
		if !ok {
			return
		}
	}
}

// exchange plays one exchange. It repeats an exchange that is marked with @eventually.
func (p *Player) exchange(ctx context.Context, e Exchange, v values) error {
	if !e.Eventually {
		return p.once(ctx, e, v)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	var last error
	for {
		err := p.once(ctx, e, v)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("not in time: %w", last)
		}
	}
}

func (p *Player) once(ctx context.Context, e Exchange, v values) error {
	r, err := p.request(ctx, e, v)
	if err != nil {
		return err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	err = errors.Join(
		compare(e, v, answer, string(text)),
		p.contract.Check(r, answer.StatusCode, answer.Header, text),
	)
	if err != nil {
		return fmt.Errorf("%w\n%s %s\n%d\n%s", err, r.Method, r.URL.RequestURI(), answer.StatusCode, text)
	}
	return nil
}

func (p *Player) request(ctx context.Context, e Exchange, v values) (*http.Request, error) {
	target, err := v.fill(e.Target)
	if err != nil {
		return nil, err
	}
	body, err := v.fill(e.Body)
	if err != nil {
		return nil, err
	}
	body = repeated.ReplaceAllStringFunc(body, func(m string) string {
		found := repeated.FindStringSubmatch(m)
		n, err := strconv.Atoi(found[2])
		if err != nil {
			return m
		}
		return strings.Repeat(found[1], n)
	})
	r, err := http.NewRequestWithContext(ctx, e.Method, p.base+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range e.Header {
		value, err := v.fill(h[1])
		if err != nil {
			return nil, err
		}
		r.Header.Add(h[0], value)
	}
	return r, nil
}

// compare compares a response with the transcript.
func compare(e Exchange, v values, answer *http.Response, text string) error {
	if answer.StatusCode != e.Status {
		return fmt.Errorf("want status %d, got %d", e.Status, answer.StatusCode)
	}
	for _, h := range e.Want {
		want, err := v.fill(h[1])
		if err != nil {
			return err
		}
		got := answer.Header.Get(h[0])
		switch m := matcher.FindStringSubmatch(want); {
		case m == nil && want != got, m != nil && got == "":
			return fmt.Errorf("header %s: want %q, got %q", h[0], want, got)
		case m != nil && m[2] != "":
			v[m[2]] = got
		}
	}
	if e.Answer == "" {
		return nil
	}
	filled, err := v.fill(e.Answer)
	if err != nil {
		return err
	}
	want, err := ordered(filled)
	if err != nil {
		return fmt.Errorf("the transcript's answer: %w", err)
	}
	got, err := ordered(text)
	if err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	return v.match("body", want, got)
}
