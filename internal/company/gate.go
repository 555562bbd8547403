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

const (
	// cacheLife is the longest time for which Kobo trusts a cached company, if Follow cannot read the
	// changes. The contract allows up to 30 seconds.
	cacheLife = 30 * time.Second
	// loadTimeout limits the time that a request waits for the company from the database.
	loadTimeout = 5 * time.Second
)

// These errors have the messages of the error catalogue for missing and invalid tokens.
var (
	errNoKey      = fault.New(fault.Invalid, "Bad Request: API key is missing").With(fault.CredentialsMissing)
	errNoRefresh  = fault.New(fault.Invalid, "Bad Request: Refresh token is missing").With(fault.CredentialsMissing)
	errBadRefresh = fault.New(fault.Forbidden, "Invalid or expired refresh token").With(fault.RefreshTokenInvalid)
	errNoAccess   = fault.New(fault.Unauthenticated, "Access token is missing").With(fault.CredentialsMissing)
	errBadAccess  = fault.New(fault.Forbidden, "Invalid or expired access token").With(fault.TokenInvalid)
	errUnsure     = fault.New(fault.Unavailable, "Service temporarily unavailable")
)

// Identity identifies the company that makes a request.
type Identity struct {
	Reference string
	PerSecond int // the requests that the company may make per second; 0 means the setting of the deployment
	// KeyID is the API key from which the access token comes. It is "" in a token of an earlier release.
	KeyID string
}

// passes returns an error unless the company may use the API. The company must be live, and its
// KYB must be APPROVED or CHANGES_REQUESTED. An approved company that is not live gets
// ACCOUNT_DEACTIVATED. Every other refused company gets KYB_REQUIRED.
func (c Company) passes() error {
	if c.Live && (c.KYB == Approved || c.KYB == ChangesRequested) {
		return nil
	}
	f := fault.New(fault.Forbidden, "Complete your business verification (KYB) to use the API").With(fault.KYBRequired)
	f.Code = "KYB_REQUIRED"
	if c.KYB == Approved {
		f = fault.New(fault.Forbidden, "Your business account is deactivated").With(fault.CompanyDeactivated)
		f.Code = "ACCOUNT_DEACTIVATED"
	}
	f.Extra = map[string]any{"kybStatus": string(c.KYB)}
	return f
}

// Passes reports whether the company may use the API.
func (c Company) Passes() bool { return c.passes() == nil }

// Tokens exchanges an API key for an access token and a refresh token. The refresh token of an
// earlier exchange stops working. For an unknown reference, Tokens returns the error for a
// missing key. It checks the key before the company's state, so only the holder of a key learns
// the state.
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
	if accessToken, err = s.issue(access, reference, id.New(), key.ID, AccessLife); err != nil {
		return "", "", err
	}
	if refreshToken, err = s.issue(refresh, reference, tokenID, key.ID, RefreshLife); err != nil {
		return "", "", err
	}
	if err := s.replaceRefresh(ctx, reference, tokenID, key.ID, s.clock.Now()); err != nil {
		return "", "", err
	}
	return accessToken, refreshToken, nil
}

// Refresh exchanges the latest refresh token for an access token. The refresh token stays valid.
// Refresh reads the company from the database, not from the cache.
func (s *Service) Refresh(ctx context.Context, token string) (string, error) {
	if token == "" {
		return "", errNoRefresh
	}
	presented, err := s.read(refresh, token)
	if err != nil {
		return "", errBadRefresh.Because(err)
	}
	reference := presented.Subject
	c, err := s.Find(ctx, reference)
	if fault.Is(err, fault.Missing) {
		return "", errBadRefresh.Because(err)
	}
	if err != nil {
		return "", err
	}
	latest, err := s.workingRefresh(ctx, reference, s.clock.Now())
	if errors.Is(err, db.ErrNone) || err == nil && latest.tokenID != presented.ID {
		return "", errWrongKey.With(fault.RefreshTokenInvalid) // the contract prescribes this message for a refresh token, too
	}
	if err == nil {
		err = c.passes()
	}
	if err != nil {
		return "", err
	}
	return s.issue(access, reference, id.New(), latest.keyID, AccessLife)
}

// HolderOf returns the company of a refresh token that Kobo has signed, whether or not the token
// still works. For any other text it returns "".
func (s *Service) HolderOf(token string) string {
	c, err := s.read(refresh, token)
	if err != nil {
		return ""
	}
	return c.Subject
}

// Holder returns the company of an access token. It does not check whether the company may use
// the API.
func (s *Service) Holder(ctx context.Context, token string) (Identity, error) {
	v, err := s.holder(token)
	if err != nil {
		return Identity{}, err
	}
	e, err := s.cached(ctx, v.reference)
	return e.identity(v), err
}

// Authenticate returns the company of an access token, if the company may use the API and the token's
// API key is not revoked. The company comes from a cache, which Follow keeps within a second of the
// database. Without the database, a cached company is up to thirty seconds old. If the company is not in
// the cache and the database fails, Authenticate returns a fault of kind Unavailable.
func (s *Service) Authenticate(ctx context.Context, token string) (Identity, error) {
	if token == "" {
		return Identity{}, errNoAccess
	}
	v, err := s.holder(token)
	if err != nil {
		return Identity{}, errBadAccess.Because(err)
	}
	e, err := s.cached(ctx, v.reference)
	switch {
	case fault.Is(err, fault.Missing):
		return Identity{}, errBadAccess.Because(err)
	case err != nil:
		return Identity{}, errUnsure.Because(err)
	case !e.accepts(v):
		return Identity{}, errBadAccess
	}
	return e.identity(v), e.passes()
}

// Seated returns the company of a person who uses the API through a page, if the company may use the API. It
// has the same cache and the same errors as Authenticate.
func (s *Service) Seated(ctx context.Context, reference string) (Identity, error) {
	e, err := s.cached(ctx, reference)
	if err != nil {
		return Identity{}, errUnsure.Because(err)
	}
	return e.identity(verified{reference: reference}), e.passes()
}

func (c Company) identity(v verified) Identity {
	return Identity{c.Reference, int(c.PerSecond), v.keyID}
}

// cached returns a company from the cache. If the cache has no fresh entry, cached reads the company
// from the database.
func (s *Service) cached(ctx context.Context, reference string) (entry, error) {
	if e, found := s.gate.GetIfPresent(reference); found {
		return e, nil
	}
	wait := db.Await(ctx) // Get may wait for a load that a different request began
	defer wait.End()
	return s.gate.Get(ctx, reference, otter.LoaderFunc[string, entry](s.load))
}

// load reads a company for the cache. Several requests may wait for one load, so the load goes
// on after the request that began it has ended. It reads the keys after the company, so the keys are
// never older than the company's updated_at.
func (s *Service) load(ctx context.Context, reference string) (entry, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	c, err := s.Find(ctx, reference)
	if err != nil {
		return entry{}, err
	}
	revoked, err := s.revokedKeys(ctx, reference)
	return entry{c, revoked}, err
}

// ticking makes the cache use the service's clock. Its ticker never ticks, so the cache has no
// periodic clean-up. It removes an old entry only on the next read, or when the cache is full.
type ticking struct{ clock.Clock }

func (t ticking) NowNano() int64                      { return t.Now().UnixNano() }
func (t ticking) Tick(time.Duration) <-chan time.Time { return nil }

func newGate(clk clock.Clock) *otter.Cache[string, entry] {
	return otter.Must(&otter.Options[string, entry]{
		MaximumSize:      100_000,
		ExpiryCalculator: otter.ExpiryWriting[string, entry](cacheLife),
		Clock:            ticking{clk},
	})
}
