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
	"sort"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/fault"
)

// developer is a client of a running Kobo. It has an API key and uses HTTP, like the program
// of a company.
type developer struct {
	app.Credentials
	http  *http.Client
	token string
}

// developing adds the flags that choose the credentials to a command. It returns a function that
// reads these credentials.
func developing(f *pflag.FlagSet) func() (*developer, error) {
	data := f.String("data", ".kobo", "the folder of kobo dev, which holds the credentials")
	file := f.String("credentials", "", "read the credentials from this file (JSON) instead")
	address := f.String("url", "", "the address of Kobo, if the credentials name another one")
	return func() (*developer, error) {
		path := *file
		if path == "" {
			path = filepath.Join(*data, "dev.json")
		}
		credentials, err := readDev(path)
		if err != nil {
			return nil, err
		}
		d := &developer{Credentials: credentials, http: &http.Client{Timeout: 45 * time.Second}} // longer than a long poll
		if *address != "" {
			d.BaseURL = *address
		}
		d.BaseURL = strings.TrimSuffix(d.BaseURL, "/")
		if d.Reference == "" || d.APIKey == "" {
			return nil, fmt.Errorf("%s holds no reference and api_key", path)
		}
		if !isAddress(d.BaseURL) {
			return nil, fmt.Errorf("%q is no address of Kobo: --url must be like http://127.0.0.1:8080", d.BaseURL)
		}
		return d, nil
	}
}

// readDev reads the credentials that kobo dev has written.
func readDev(path string) (out app.Credentials, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("no credentials (is kobo dev running in this folder?): %w", err)
	}
	if err = json.Unmarshal(text, &out); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// refusal is an HTTP response with a status other than 200.
type refusal struct {
	status int
	reason fault.Reason // the word of the header Kobo-Reason
	body   string
}

func (r refusal) Error() string { return fmt.Sprintf("Kobo answered %d: %s", r.status, r.body) }

// ask sends one request and decodes the response into v. Body and v may be nil.
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
	defer func() { _ = answer.Body.Close() }() // the body was read, so a failed close does no harm
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return refusal{answer.StatusCode, fault.Reason(answer.Header.Get("Kobo-Reason")), strings.TrimSpace(string(got))}
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(got, v); err != nil {
		return fmt.Errorf("the server at %s is not Kobo: %w", d.BaseURL, err)
	}
	return nil
}

// away returns an error that explains why Kobo did not respond. The text leaves out the path of the
// request.
func (d *developer) away(ctx context.Context, err error) error {
	var asking *url.Error
	if ctx.Err() != nil || !errors.As(err, &asking) {
		return err
	}
	return fmt.Errorf("no answer from Kobo at %s (is it running? --url says where): %w", d.BaseURL, asking.Err)
}

// api sends a request as the company. If the access token has expired, api gets a new one once and
// repeats the request.
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

// told is an event from the event feed. The field text has the event's exact JSON.
type told struct {
	ID       string
	Sequence int64
	Event    string
	text     json.RawMessage
}

// events returns at most limit events after the event with a number. If there are none, the request
// waits for the next event, for at most wait seconds.
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

// last returns the number of the company's newest event. Events are numbered without a gap, so a
// binary search finds that number.
func (d *developer) last(ctx context.Context) (n int64, err error) {
	isLast := func(n int) bool {
		if err != nil {
			return true // an error ends the search
		}
		var page []told
		page, err = d.events(ctx, int64(n), 1, 0)
		return len(page) == 0
	}
	most := 1
	for !isLast(most) {
		most *= 2
	}
	return int64(sort.Search(most, isLast)), err
}
