package kobo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/clients/go/api"
)

const keyHeader = "Idempotency-Key"

// Do sends a request of package api. It adds the access token, and an Idempotency-Key if the operation
// takes one. It repeats the request while that is safe and may help. A response that is not a success
// is an error of the type *Refusal.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && takesKey(r.URL.Path) && r.Header.Get(keyHeader) == "" {
		r.Header.Set(keyHeader, NewKey())
	}
	for n := 1; ; n++ {
		res, err := c.authorized(r)
		if err == nil {
			return res, nil
		}
		wait, again := c.again(r, err, n)
		if !again || !pause(r.Context(), wait) {
			return nil, err
		}
	}
}

// takesKey reports whether the POST at a path takes an Idempotency-Key. The operations that give tokens
// take none.
func takesKey(path string) bool {
	return !strings.Contains(path, "/api/v1/auth/") && !strings.Contains(path, "/card/generate-card-token/")
}

// again reports whether a request should be sent again after an error, and when.
func (c *Client) again(r *http.Request, err error, tried int) (time.Duration, bool) {
	safe := r.Method == http.MethodGet || r.Header.Get(keyHeader) != "" || strings.Contains(r.URL.Path, "/card/generate-card-token/")
	if !safe || tried >= c.tries || r.Context().Err() != nil {
		return 0, false
	}
	wait := backoff(tried)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		if !refusal.passing() {
			return 0, false
		}
		wait = max(refusal.RetryAfter, wait)
	}
	return wait, wait <= c.longest
}

// backoff returns the wait after a number of tries, if the server stated none. A random part keeps
// clients from repeating their requests at the same instant.
func backoff(tried int) time.Duration {
	step := min(100*time.Millisecond<<min(tried, 6), 5*time.Second)
	return step/2 + rand.N(step/2)
}

// pause waits, and reports whether the context still allows another try. If its deadline comes first,
// pause returns false immediately.
func pause(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// authorized sends a request once with the access token. After a refusal of the token, it gets a new
// token and sends the request once more.
func (c *Client) authorized(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/api/v1/auth/") {
		return c.try(r)
	}
	stale := ""
	for {
		token, err := c.accessToken(r.Context(), stale)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := c.try(r)
		var refusal *Refusal
		if stale != "" || !errors.As(err, &refusal) || refusal.Reason != api.TokenInvalid {
			return res, err
		}
		stale = token
	}
}

// try sends a request once, and reads the whole response.
func (c *Client) try(r *http.Request) (*http.Response, error) {
	one := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		one.Body = body
	}
	res, err := c.http.Do(one)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, newRefusal(res, body)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
