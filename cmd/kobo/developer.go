package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kobo-waas/kobo/internal/app"
)

// developer is a company's own program, as seen by a running Kobo: it knows no
// more than an API key, and asks over HTTP like everybody else.
type developer struct {
	app.Credentials
	http  *http.Client
	token string
}

// developing adds the flags that say who one is, and returns what reads them.
func developing(f *pflag.FlagSet) func() (*developer, error) {
	data := f.String("data", ".kobo", "the folder of kobo dev, for its credentials")
	file := f.String("credentials", "", "a credentials file (JSON) instead")
	address := f.String("url", "", "where Kobo answers, if not where the credentials say")
	return func() (*developer, error) {
		path := *file
		if path == "" {
			path = filepath.Join(*data, "dev.json")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("no credentials (is kobo dev running in this folder?): %w", err)
		}
		d := &developer{http: &http.Client{Timeout: 45 * time.Second}} // longer than a long poll
		if err := json.Unmarshal(text, &d.Credentials); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if *address != "" {
			d.BaseURL = *address
		}
		d.BaseURL = strings.TrimSuffix(d.BaseURL, "/")
		if d.Reference == "" || d.APIKey == "" {
			return nil, fmt.Errorf("%s holds no reference and api_key", path)
		}
		if u, err := url.Parse(d.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%q is no address of Kobo: --url must be like http://127.0.0.1:8080", d.BaseURL)
		}
		return d, nil
	}
}

// refusal is an answer that is not a success.
type refusal struct {
	status int
	body   string
}

func (r refusal) Error() string { return fmt.Sprintf("Kobo answered %d: %s", r.status, r.body) }

// ask sends one request and reads the answer's data into v, which may be nil.
// Body may be nil.
func (d *developer) ask(ctx context.Context, method, path string, body, v any, header ...string) error {
	text := []byte{}
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, d.BaseURL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := d.http.Do(r)
	if err != nil {
		return d.away(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // it has been read
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return refusal{answer.StatusCode, strings.TrimSpace(string(got))}
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(got, v); err != nil {
		return fmt.Errorf("what answers at %s is not Kobo: %w", d.BaseURL, err)
	}
	return nil
}

// away is why there was no answer, without the address that was asked.
func (d *developer) away(ctx context.Context, err error) error {
	var asking *url.Error
	if ctx.Err() != nil || !errors.As(err, &asking) {
		return err
	}
	return fmt.Errorf("no answer from Kobo at %s (is it running? --url says where): %w", d.BaseURL, asking.Err)
}

// api asks as the company, with a token that is renewed when it has run out.
func (d *developer) api(ctx context.Context, method, path string, body, data any) error {
	for again := true; ; again = false {
		if d.token == "" {
			var tokens struct{ AccessToken string }
			if err := d.ask(ctx, http.MethodPost, "/api/v1/auth/generate-token/"+d.Reference, nil, &tokens, "x-api-key", d.APIKey); err != nil {
				return err
			}
			d.token = tokens.AccessToken
		}
		envelope := struct{ Data any }{data}
		err := d.ask(ctx, method, path, body, &envelope, "Authorization", "Bearer "+d.token)
		var no refusal
		if !again || !errors.As(err, &no) || no.status != http.StatusForbidden {
			return err
		}
		d.token = ""
	}
}

// sandbox steers the pretend world; only a sandbox answers.
func (d *developer) sandbox(ctx context.Context, path string, body, answer any) error {
	var with []string
	if d.SandboxToken != "" {
		with = []string{"Authorization", "Bearer " + d.SandboxToken}
	}
	return d.ask(ctx, http.MethodPost, "/sandbox/"+path, body, answer, with...)
}

// admin asks as an operator, with the key that kobo dev leaves.
func (d *developer) admin(ctx context.Context, path string, body, data any) error {
	if d.AdminKey == "" {
		return errors.New("the credentials hold no admin key")
	}
	envelope := struct{ Data any }{data}
	return d.ask(ctx, http.MethodPost, "/admin/v1/"+path, body, &envelope, "Authorization", "Bearer "+d.AdminKey)
}

// told is an event of the feed. Text is its JSON, to the byte.
type told struct {
	ID       string
	Sequence int64
	Event    string
	text     json.RawMessage
}

// events are up to limit events after a number. If there is none yet it waits
// for one, at most so many seconds.
func (d *developer) events(ctx context.Context, after int64, limit, wait int) ([]told, error) {
	var feed struct{ Data []json.RawMessage }
	err := d.api(ctx, http.MethodGet, fmt.Sprintf("/api/v1/events?after=%d&limit=%d&wait=%d", after, limit, wait), nil, &feed)
	out := make([]told, len(feed.Data))
	for i, text := range feed.Data {
		if err == nil {
			err = json.Unmarshal(text, &out[i])
		}
		out[i].text = text
	}
	return out, err
}

// last is the number of the newest event. The feed has no gaps, so it is looked
// for by halves.
func (d *developer) last(ctx context.Context) (int64, error) {
	low, high := int64(0), int64(1)
	more := func(n int64) (bool, error) {
		page, err := d.events(ctx, n, 1, 0)
		return len(page) > 0, err
	}
	for {
		there, err := more(high)
		if err != nil {
			return 0, err
		}
		if !there {
			break
		}
		low, high = high, high*2
	}
	for low < high {
		middle := (low + high) / 2
		there, err := more(middle)
		if err != nil {
			return 0, err
		}
		if there {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
