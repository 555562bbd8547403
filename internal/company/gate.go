package company

import (
	"context"
	"errors"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

// remembered is how long the gate trusts what it read about a company (Limits:
// "up to 30 seconds").
const remembered = 30 * time.Second

// patience is how long the gate waits for the database.
const patience = 5 * time.Second

// The catalogue's words for tokens that do not open.
var (
	errNoKey      = fault.New(fault.Invalid, "Bad Request: API key is missing")
	errNoRefresh  = fault.New(fault.Invalid, "Bad Request: Refresh token is missing")
	errBadRefresh = fault.New(fault.Forbidden, "Invalid or expired refresh token")
	errNoAccess   = fault.New(fault.Unauthenticated, "Access token is missing")
	errBadAccess  = fault.New(fault.Forbidden, "Invalid or expired access token")
	errUnsure     = fault.New(fault.Unavailable, "Service temporarily unavailable")
)

// Identity is who a request comes from.
type Identity struct {
	Reference string
}

// passes is the gate: the business must be live and its KYB approved, or
// approved once with changes requested. Only a company that is approved and
// switched off hears that it is deactivated; everyone else that KYB is wanting.
func (c Company) passes() error {
	if c.Live && (c.KYB == Approved || c.KYB == ChangesRequested) {
		return nil
	}
	f := fault.New(fault.Forbidden, "Complete your business verification (KYB) to use the API")
	f.Code = "KYB_REQUIRED"
	if c.KYB == Approved {
		f = fault.New(fault.Forbidden, "Your business account is deactivated")
		f.Code = "ACCOUNT_DEACTIVATED"
	}
	f.Extra = map[string]any{"kybStatus": string(c.KYB)}
	return f
}

// Tokens exchanges an API key for an access token and a refresh token. The
// refresh token of an earlier exchange stops working. An unknown reference is
// answered like a missing key, and the key is checked before the gate, so that
// only its holder learns how the company stands.
func (s *Service) Tokens(ctx context.Context, reference, apiKey string) (accessToken, refreshToken string, err error) {
	if apiKey == "" {
		return "", "", errNoKey
	}
	c, err := s.Find(ctx, reference)
	if fault.Is(err, fault.Missing) {
		return "", "", errNoKey
	}
	if err != nil {
		return "", "", err
	}
	key, err := s.proven(ctx, reference, apiKey)
	if err != nil {
		return "", "", err
	}
	if err := c.passes(); err != nil {
		return "", "", err
	}
	tokenID := id.New()
	if accessToken, err = s.issue(access, reference, id.New(), AccessLife); err != nil {
		return "", "", err
	}
	if refreshToken, err = s.issue(refresh, reference, tokenID, RefreshLife); err != nil {
		return "", "", err
	}
	if err := s.replaceRefresh(ctx, reference, tokenID, key.ID, s.clock.Now()); err != nil {
		return "", "", err
	}
	return accessToken, refreshToken, nil
}

// Refresh exchanges the latest refresh token for an access token. The refresh
// token stays; the gate is asked live.
func (s *Service) Refresh(ctx context.Context, token string) (string, error) {
	if token == "" {
		return "", errNoRefresh
	}
	reference, tokenID, err := s.read(refresh, token)
	if err != nil {
		return "", errBadRefresh.Because(err)
	}
	c, err := s.Find(ctx, reference)
	if fault.Is(err, fault.Missing) {
		return "", errBadRefresh.Because(err)
	}
	if err != nil {
		return "", err
	}
	latest, err := s.workingRefresh(ctx, reference, s.clock.Now())
	if errors.Is(err, db.ErrNone) || err == nil && latest != tokenID {
		return "", errWrongKey // the contract's wording, API key and all
	}
	if err == nil {
		err = c.passes()
	}
	if err != nil {
		return "", err
	}
	return s.issue(access, reference, id.New(), AccessLife)
}

// Holder is the company that an access token was given to, whatever it may do.
func (s *Service) Holder(token string) (reference string, err error) {
	reference, _, err = s.read(access, token)
	return reference, err
}

// Authenticate tells whose access token this is and whether the company may
// come in. What is known of the company may be up to thirty seconds old; if it
// cannot be read at all, nobody is let in and nobody is turned away for good.
func (s *Service) Authenticate(ctx context.Context, token string) (Identity, error) {
	if token == "" {
		return Identity{}, errNoAccess
	}
	reference, _, err := s.read(access, token)
	if err != nil {
		return Identity{}, errBadAccess.Because(err)
	}
	wait := db.Await(ctx) // another request may be asking for the same company
	c, err := s.gate.Get(ctx, reference, otter.LoaderFunc[string, Company](s.load))
	wait.End()
	switch {
	case fault.Is(err, fault.Missing):
		return Identity{}, errBadAccess.Because(err)
	case err != nil:
		return Identity{}, errUnsure.Because(err)
	}
	return Identity{Reference: reference}, c.passes()
}

// load reads a company for the gate. Others may be waiting for the same answer,
// so it does not end when the one who asked first goes away.
func (s *Service) load(ctx context.Context, reference string) (Company, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return s.Find(ctx, reference)
}

// ticking lets the cache read our clock. It never ticks: an old entry goes when
// it is asked for, or when the cache is full.
type ticking struct{ clock.Clock }

func (t ticking) NowNano() int64                      { return t.Now().UnixNano() }
func (t ticking) Tick(time.Duration) <-chan time.Time { return nil }

func newGate(clk clock.Clock) *otter.Cache[string, Company] {
	return otter.Must(&otter.Options[string, Company]{
		MaximumSize:      100_000,
		ExpiryCalculator: otter.ExpiryWriting[string, Company](remembered),
		Clock:            ticking{clk},
	})
}
