package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// underway is the content of the state file: the order that spend has sent, or is about to send, and
// whose outcome it has not seen. A run that is killed leaves this file, so that the next run does not
// pay again. The file contains no secret, and only its owner can read it.
type underway struct {
	Server, Company, Since string
	Order                  order
}

// stateFile returns the path of the state file of a company if no option names one.
func stateFile(company string) (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", usagef("name a file with --state, because %w", err)
	}
	return filepath.Join(folder, "kobo", "spend-"+url.PathEscape(company)+".json"), nil
}

// note writes an order to the state file, before the order is sent. It returns an error if the file
// exists, because a different run then has an order under way.
func (s *spender) note(o order) error {
	text, err := json.MarshalIndent(underway{s.BaseURL, s.Reference, clock.Text(time.Now()), o}, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.state), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.state, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("a different run has an order under way in %s", s.state)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return secret.SyncFolder(filepath.Dir(s.state)) // without it, a power failure may lose the name of the file
}

// forget removes the state file, because the outcome of its order is known or the order was not sent.
func (s *spender) forget() error {
	if err := os.Remove(s.state); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // a different run has settled the same order
}

// unsettled returns the order in the state file, or nil if there is no such file.
func (s *spender) unsettled() (*order, error) {
	text, err := os.ReadFile(s.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var u underway
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // the repeated request must be the same to the last digit
		err = d.Decode(&u)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("an earlier run may have sent an order, but %s cannot be read: look at the company's operations before you remove it: %w", s.state, err)
	case u.Server != s.BaseURL || u.Company != s.Reference:
		return nil, fmt.Errorf("%s has an order of the company %s at %s: settle it there first, or name a different file with --state", s.state, u.Company, u.Server)
	}
	fmt.Fprintf(s.out, "an earlier run began this order at %s and did not see its outcome: %s, Idempotency-Key %s\n", u.Since, u.Order.What, u.Order.Key)
	return &u.Order, nil
}

// resume settles the order of an earlier run, and sends no new order. It first asks Kobo about the
// Idempotency-Key. If Kobo has no request with this key, resume sends the order with the same key, after
// a confirmation.
func (s *spender) resume(ctx context.Context, in io.Reader, o *order) error {
	if o == nil {
		return nil
	}
	use, err := s.used(ctx, o.Key)
	if err != nil {
		return still{fmt.Errorf("what became of %s is not known: %w", o.What, err)}
	}
	if !use.found {
		fmt.Fprintf(s.out, "Kobo has no request with this key, so nothing was paid. To give the order up, remove %s\n", s.state)
		if err := s.affords(ctx, o, s.most); err != nil {
			return err
		}
		if err := s.confirm(in, []order{*o}); err != nil {
			return err
		}
	}
	if err := s.settle(ctx, *o, true); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, "the order of the earlier run is settled, and nothing else was sent: repeat the command for new operations")
	return err
}

// keyUse is what Kobo has stored about an Idempotency-Key.
type keyUse struct {
	found     bool
	done      bool   // whether the request has its response
	reference string // of the operation that the request began; "" if it began none
}

// used asks what became of the request with an Idempotency-Key. Nothing is sent again.
func (s *spender) used(ctx context.Context, key string) (keyUse, error) {
	var u struct{ Status, Reference string }
	err := s.api(ctx, http.MethodGet, "/api/v1/idempotency/"+key, nil, &u)
	var no refusal
	if errors.As(err, &no) && no.reason == fault.NotFound {
		return keyUse{}, nil
	}
	return keyUse{found: err == nil, done: u.Status == "DONE", reference: u.Reference}, err
}
