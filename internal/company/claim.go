package company

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/secret"
)

// In live mode with four eyes, an operator must not see an API key or a PIN of a company. So the
// operator gets a token instead, and hands the token to the company. The company exchanges a key token
// for an API key (ClaimKey), or sets its PIN with a PIN token (ResetPIN). A token works once.
//
// If somebody else uses the token first, the company's own try fails as "used already". So a stolen
// token is noticed.

// TokenLife is the time for which a key token or a PIN token works.
const TokenLife = 24 * time.Hour

// purpose is what a company can do with a token.
type purpose string

const (
	forKey purpose = "KEY"
	forPIN purpose = "PIN"
)

// purposes has the texts of each purpose. The prefix makes a token easy to find in a log or a
// repository, where a token must never be.
var purposes = map[purpose]struct {
	prefix, name, kind, action string
	sequence                   ledger.Next
}{
	forKey: {"kobo_keytoken_", "Key token", event.KeyTokenIssued, "company.key.token", "company/key-token"},
	forPIN: {"kobo_pintoken_", "PIN token", event.PINTokenIssued, "company.pin.token", "company/pin-token"},
}

// Token is a key token or a PIN token. Kobo stores a hash of the token, and not the token.
type Token struct {
	Company   string
	Text      secret.Text
	ExpiresAt time.Time
}

// tokenRow is the row of a Token.
type tokenRow struct {
	company      string    `db:"company_id,key"`
	id           string    `db:"id,key"`
	purpose      string    `db:"purpose"`
	number       int64     `db:"number"` // the company's tokens of a purpose have the numbers 1, 2, 3 …
	hash         string    `db:"hash"`
	state        string    `db:"state,state"` // OPEN or USED
	createdAt    time.Time `db:"created_at"`
	expiresAt    time.Time `db:"expires_at"`
	keyExpiresAt time.Time `db:"key_expires_at"` // the expiry of the API key; zero means never
	usedAt       time.Time `db:"used_at,changes"`
}

const (
	tokenOpen = "OPEN"
	tokenUsed = "USED"
)

// tokenIssued is the data of the events that report a new token.
type tokenIssued struct {
	CompanyID string `json:"companyId"`
	ExpiresAt string `json:"expiresAt"`
}

// newToken makes a unit append a token. The token has the next number of its purpose, so earlier
// tokens of the same purpose stop working. A key token expires no later than its key.
func (s *Service) newToken(u *ledger.Unit, by Actor, to purpose, now, keyExpiresAt time.Time) Token {
	row := tokenRow{createdAt: now, expiresAt: now.Add(TokenLife), keyExpiresAt: keyExpiresAt}
	if !keyExpiresAt.IsZero() && keyExpiresAt.Before(row.expiresAt) {
		row.expiresAt = keyExpiresAt
	}
	return s.addToken(u, by, to, row)
}

// addToken makes a unit append a token with the instants of the row.
func (s *Service) addToken(u *ledger.Unit, by Actor, to purpose, row tokenRow) Token {
	is := purposes[to]
	row.company, row.id, row.purpose, row.state = u.Company, id.New(), string(to), tokenOpen
	text := is.prefix + row.id + "." + secret.Random()
	row.hash = s.hashToken(row.company, to, text)
	u.Append(tokens.Record(row).Put("number", is.sequence))
	event.Emit(u, is.kind, tokenIssued{row.company, clock.Text(row.expiresAt)})
	by.Audit(u, is.action, row.id, nil, row.createdAt)
	return Token{row.company, secret.NewText(text), row.expiresAt}
}

func (s *Service) hashToken(company string, to purpose, text string) string {
	return s.keys.MAC("token/"+string(to), company, text)
}

// IssueKeyToken gives the company a token for an additional API key. An earlier key token that the
// company has not used stops working. If keyExpiresAt is zero, the key will not expire.
func (s *Service) IssueKeyToken(ctx context.Context, by Actor, reference string, keyExpiresAt time.Time) (Token, error) {
	now, u := s.clock.Now(), ledger.For(reference)
	if err := inFuture(keyExpiresAt, now); err != nil {
		return Token{}, err
	}
	t := s.newToken(&u, by, forKey, now, keyExpiresAt)
	return t, explain(s.book.Commit(ctx, u))
}

// IssuePINToken gives the company a token with which the company sets its PIN and unlocks it. An
// earlier PIN token that the company has not used stops working.
func (s *Service) IssuePINToken(ctx context.Context, by Actor, reference string) (Token, error) {
	u := ledger.For(reference)
	t := s.newToken(&u, by, forPIN, s.clock.Now(), time.Time{})
	return t, explain(s.book.Commit(ctx, u))
}

// RenewKeyToken replaces the company's key token, if the company has not used it. The new token ends when
// the earlier one would have ended. The function issued returns an error if the actor may not renew the
// token that an action issued at an instant.
func (s *Service) RenewKeyToken(ctx context.Context, by Actor, reference string, issued Issued) (Token, error) {
	return s.renewToken(ctx, by, reference, forKey, issued)
}

// RenewPINToken replaces the company's PIN token like RenewKeyToken.
func (s *Service) RenewPINToken(ctx context.Context, by Actor, reference string, issued Issued) (Token, error) {
	return s.renewToken(ctx, by, reference, forPIN, issued)
}

// Issued returns an error if a token may not be renewed. The action is that of the token's audit line.
type Issued func(action, tokenID string, at time.Time) error

func (s *Service) renewToken(ctx context.Context, by Actor, reference string, to purpose, issued Issued) (Token, error) {
	last, err := s.book.Last(ctx, reference, purposes[to].sequence)
	if err != nil {
		return Token{}, err
	}
	row, err := s.findNumbered(ctx, reference, to, last)
	if errors.Is(err, db.ErrNone) {
		return Token{}, to.refuse("is not there: propose a new one")
	}
	if err == nil {
		err = issued(purposes[to].action, row.id, row.createdAt)
	}
	now := s.clock.Now()
	switch {
	case err != nil:
		return Token{}, err
	case row.state == tokenUsed:
		return Token{}, to.refuse("was used already")
	case !now.Before(row.expiresAt):
		return Token{}, to.refuse("has expired")
	}
	row.createdAt = now
	u := ledger.For(reference)
	t := s.addToken(&u, by, to, row)
	return t, explain(s.book.Commit(ctx, u))
}

// HasKeyToken reports whether the company can still exchange a key token for an API key.
func (s *Service) HasKeyToken(ctx context.Context, reference string) (bool, error) {
	last, err := s.book.Last(ctx, reference, purposes[forKey].sequence)
	if err != nil {
		return false, err
	}
	t, err := s.findNumbered(ctx, reference, forKey, last)
	if errors.Is(err, db.ErrNone) {
		return false, nil
	}
	return t.state == tokenOpen && s.clock.Now().Before(t.expiresAt), err
}

// presented returns the row of a token that works. A wrong token gets the same fault as an unknown
// company. Only the holder of a token learns that the token was used, was replaced or has expired.
func (s *Service) presented(ctx context.Context, reference string, to purpose, text string) (tokenRow, error) {
	rest, _ := strings.CutPrefix(text, purposes[to].prefix)
	tokenID, _, _ := strings.Cut(rest, ".")
	// The number is read first. A PIN token that is used meanwhile would otherwise count as replaced.
	last, err := s.book.Last(ctx, reference, purposes[to].sequence)
	if err != nil {
		return tokenRow{}, err
	}
	row, err := s.findToken(ctx, reference, tokenID)
	if errors.Is(err, db.ErrNone) || err == nil && !s.keys.Verify(row.hash, "token/"+string(to), reference, text) {
		return row, to.refuse("is not valid")
	}
	switch {
	case err != nil:
		return row, err
	case row.state == tokenUsed:
		return row, to.refuse("was used already")
	case !s.clock.Now().Before(row.expiresAt):
		return row, to.refuse("has expired")
	case row.number < last:
		return row, to.refuse("was replaced")
	}
	return row, nil
}

func (p purpose) refuse(why string) error {
	return fault.New(fault.Invalid, purposes[p].name+" "+why).With(fault.OneTimeTokenInvalid)
}

// use makes a unit use up a token. The ledger refuses the unit if another unit has used or replaced
// the token.
func (r tokenRow) use(u *ledger.Unit, now time.Time) {
	r.state, r.usedAt = tokenUsed, now
	u.Transition(tokens.Record(r), tokenOpen)
	u.Count(string(purposes[purpose(r.purpose)].sequence), 0, r.number)
}

// explain turns the ledger's refusal of a unit that uses the token into a fault.
func (p purpose) explain(err error) error {
	switch {
	case ledger.Is(err, ledger.Moved, tokens.Table):
		return p.refuse("was used already")
	case ledger.IsOver(err, string(purposes[p].sequence)):
		return p.refuse("was replaced")
	}
	return explain(err)
}

// ClaimKey exchanges a key token for an API key. Kobo never shows the key again. One commit uses up
// the token and issues the key, so concurrent claims get one key.
func (s *Service) ClaimKey(ctx context.Context, reference, token string) (Key, secret.Text, error) {
	row, err := s.presented(ctx, reference, forKey, token)
	if err != nil {
		return Key{}, secret.Text{}, err
	}
	working, err := s.Working(ctx, reference)
	if err != nil {
		return Key{}, secret.Text{}, err
	}
	now, u := s.clock.Now(), ledger.For(reference)
	row.use(&u, now)
	key, text := s.newKey(reference, now, row.keyExpiresAt)
	key.Others = len(working)
	insertKey(&u, key, byCompany, peer.Of(ctx))
	s.self(ctx, reference).Audit(&u, "company.key.claim", key.ID, map[string]string{"tokenId": row.id}, now)
	if err := s.book.Commit(ctx, u); err != nil {
		return Key{}, secret.Text{}, forKey.explain(err)
	}
	return key, text, nil
}
