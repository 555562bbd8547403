package kobo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// tokens holds the tokens of a client. Who has put a value into turn may read and change them, so one
// goroutine gets new tokens and the others wait for them.
type tokens struct {
	turn            chan struct{}
	access, refresh string
}

// accessToken returns an access token that is not the stale one.
func (c *Client) accessToken(ctx context.Context, stale string) (string, error) {
	t := &c.tokens
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if t.access != "" && t.access != stale {
		return t.access, nil
	}
	if t.refresh != "" {
		body, err := json.Marshal(api.RefreshRequest{RefreshToken: t.refresh})
		if err != nil {
			return "", err
		}
		var got api.AccessToken
		err = c.exchange(ctx, "refresh-access-token/", body, &got)
		if err == nil {
			t.access = got.AccessToken
			return t.access, nil
		}
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Reason != api.RefreshTokenInvalid {
			return "", err
		}
	}
	var got api.Tokens
	if err := c.exchange(ctx, "generate-token/"+url.PathEscape(c.reference), nil, &got); err != nil {
		return "", err
	}
	t.access, t.refresh = got.AccessToken, got.RefreshToken
	return t.access, nil
}

// exchange posts to an operation that gives tokens. Such an operation may be repeated.
func (c *Client) exchange(ctx context.Context, path string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1/auth/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body == nil {
		r.Header.Set("X-Api-Key", c.apiKey)
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := c.try(r)
	if err != nil {
		return err
	}
	return json.NewDecoder(res.Body).Decode(into)
}
