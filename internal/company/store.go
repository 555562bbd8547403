package company

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

const (
	columns    = `company_id, name, kyb_status, live, requests_per_second, created_at, updated_at`
	keyColumns = `company_id, id, hash, state, created_at, expires_at, name, ending`
	pinColumns = `company_id, hash, state, failures, updated_at`

	approvalColumns   = `company_id, id, kind, body, state, asked_by, created_at, expires_at, first_by, decided_by, decided_at`
	payoutRuleColumns = `company_id, state, least_kobo, changed_by, changed_at`
	ruleColumns       = `company_id, name, state, changed_by, changed_at`

	tokenColumns = `company_id, id, purpose, number, hash, state, created_at, expires_at, key_expires_at, used_at`
)

var (
	companies = db.Declare[Company]("company", db.Reads(columns), db.Rights("kyb_status", "live", "requests_per_second"))
	keys      = db.Declare[Key]("company_api_key", db.Reads(keyColumns), db.Rights("hash", "state", "created_at", "expires_at"))
	pins      = db.Declare[pin]("company_pin", db.Reads(pinColumns), db.Rights("hash", "state", "failures"))
	tokens    = db.Declare[tokenRow]("company_token", db.Reads(tokenColumns),
		db.Rights("purpose", "number", "hash", "state", "expires_at", "key_expires_at"))
)

// pin is the row of a company's transaction PIN. It holds a hash instead of the PIN.
type pin struct {
	company   string    `db:"company_id,key"`
	hash      string    `db:"hash,changes"`
	state     string    `db:"state,state"`
	failures  int64     `db:"failures,changes"` // the number of wrong tries since the last right one; an unlock does not set it to zero
	updatedAt time.Time `db:"updated_at,changes"`
}

// Find returns the company with this reference.
func (s *Service) Find(ctx context.Context, reference string) (Company, error) {
	if !id.IsCuid(reference) {
		return Company{}, errNoCompany
	}
	c, err := db.One(ctx, s.db, companies.Scan, `SELECT `+columns+` FROM company WHERE company_id = $1`, reference)
	if errors.Is(err, db.ErrNone) {
		return Company{}, errNoCompany
	}
	return c, err
}

// revokedKeys returns the IDs of a company's revoked API keys.
func (s *Service) revokedKeys(ctx context.Context, reference string) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string],
		`SELECT id FROM company_api_key WHERE company_id = $1 AND state = $2 ORDER BY id`, reference, keyRevoked)
}

// changed returns the companies that have changed after a time, the newest change first, across all companies.
func (s *Service) changed(ctx context.Context, after time.Time, limit int) ([]revision, error) {
	return db.All(ctx, s.db, db.Fields[revision],
		`SELECT company_id, updated_at FROM company WHERE updated_at > $1 ORDER BY updated_at DESC LIMIT $2`, clock.Micros(after), limit)
}

// Filter selects companies. The zero value selects all.
type Filter struct {
	KYB  KYB    // "" for every status
	Live string // true, false, or "" for both
}

// live returns the filter by live access as SQL compares it: 0, 1, or -1 for both.
func (f Filter) live() int64 {
	switch f.Live {
	case "true":
		return 1
	case "false":
		return 0
	}
	return -1
}

// List returns a page of companies that match a filter, the newest first, and the total count.
func (s *Service) List(ctx context.Context, f Filter, limit, offset int) ([]Company, int64, error) {
	total, err := s.count(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	companies, err := s.page(ctx, f, limit, offset)
	return companies, total, err
}

// count returns the number of the companies that match a filter. Only operators may use count and page, because
// both read all companies.
func (s *Service) count(ctx context.Context, f Filter) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM company WHERE ($1 = '' OR kyb_status = $1) AND (live = $2 OR $2 < 0)`, string(f.KYB), f.live())
}

func (s *Service) page(ctx context.Context, f Filter, limit, offset int) ([]Company, error) {
	return db.All(ctx, s.db, companies.Scan, `SELECT `+columns+` FROM company WHERE ($1 = '' OR kyb_status = $1) AND (live = $2 OR $2 < 0)
		ORDER BY created_at DESC, company_id DESC LIMIT $3 OFFSET $4`, string(f.KYB), f.live(), limit, offset)
}

// Cursor returns the place of a company in the list of companies.
func (c Company) Cursor() string {
	return db.Place{At: clock.Micros(c.CreatedAt), ID: c.Reference}.Cursor()
}

// After returns at most limit companies that match a filter, the newest first. They follow the company with the cursor after, which is "" for the
// newest ones. A wrong cursor is a fault of the kind Invalid. Only operators may use After, because it reads all companies.
func (s *Service) After(ctx context.Context, f Filter, after string, limit int) ([]Company, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.db, companies.Scan, `SELECT `+columns+` FROM company WHERE (created_at, company_id) < ($1, $2)
		AND ($3 = '' OR kyb_status = $3) AND (live = $4 OR $4 < 0)
		ORDER BY created_at DESC, company_id DESC LIMIT $5`, at.At, at.ID, string(f.KYB), f.live(), limit)
}

// Keys returns a company's API keys, the oldest first.
func (s *Service) Keys(ctx context.Context, reference string) ([]Key, error) {
	return db.All(ctx, s.db, keys.Scan,
		`SELECT `+keyColumns+` FROM company_api_key WHERE company_id = $1 ORDER BY created_at, id`, reference)
}

// PageOfKeys returns a page of a company's API keys, the newest first, and the total count. Revoked and
// expired keys are included.
func (s *Service) PageOfKeys(ctx context.Context, reference string, offset, limit int) ([]Key, int, error) {
	list, total, err := db.Page(ctx, s.db, reference, keys.Scan, `SELECT count(*) FROM company_api_key WHERE company_id = $1`,
		`SELECT `+keyColumns+` FROM company_api_key WHERE company_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
		limit, offset, reference)
	return list, int(total), err
}

// Cursor returns the place of an API key in the list of its company.
func (k Key) Cursor() string { return db.Place{At: clock.Micros(k.CreatedAt), ID: k.ID}.Cursor() }

// KeysAfter returns at most limit API keys of a company, the newest first, as PageOfKeys does. They follow the key with the cursor
// after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid. The id begins with the time, so it alone
// says what follows.
func (s *Service) KeysAfter(ctx context.Context, reference, after string, limit int) ([]Key, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.db, keys.Scan, `SELECT `+keyColumns+` FROM company_api_key WHERE company_id = $1 AND id < $2
		ORDER BY id DESC LIMIT $3`, reference, cmp.Or(at.ID, id.Above), limit)
}

func (s *Service) replaceRefresh(ctx context.Context, reference, tokenID, keyID string, now time.Time) error {
	_, err := s.db.Exec(ctx, `
		INSERT INTO company_refresh_token (company_id, token_id, api_key_id, issued_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (company_id) DO UPDATE
		SET token_id = excluded.token_id, api_key_id = excluded.api_key_id, issued_at = excluded.issued_at`,
		reference, tokenID, keyID, clock.Micros(now))
	return err
}

// refreshing is a valid refresh token with the API key from which it comes.
type refreshing struct{ tokenID, keyID string }

// workingRefresh returns the company's valid refresh token. That is the latest token, while its API
// key is neither revoked nor expired.
func (s *Service) workingRefresh(ctx context.Context, reference string, now time.Time) (refreshing, error) {
	return db.One(ctx, s.db, db.Fields[refreshing], `
		SELECT t.token_id, t.api_key_id FROM company_refresh_token t
		JOIN company_api_key k ON k.company_id = t.company_id AND k.id = t.api_key_id
		WHERE t.company_id = $1 AND k.state = $2 AND (k.expires_at = 0 OR k.expires_at > $3)`, reference, keyActive, clock.Micros(now))
}

// findPIN reads the row of a PIN.
func (s *Service) findPIN(ctx context.Context, reference string) (pin, error) {
	return db.One(ctx, s.db, pins.Scan, `SELECT `+pinColumns+` FROM company_pin WHERE company_id = $1`, reference)
}

// PINState returns the state of a company's PIN for operators: NOT_SET, SET or LOCKED.
func (s *Service) PINState(ctx context.Context, reference string) (string, error) {
	state, err := db.One(ctx, s.db, db.Value[string], `SELECT state FROM company_pin WHERE company_id = $1`, reference)
	if errors.Is(err, db.ErrNone) {
		return noPIN, nil
	}
	return state, err
}

func (s *Service) findToken(ctx context.Context, reference, tokenID string) (tokenRow, error) {
	return db.One(ctx, s.db, tokens.Scan,
		`SELECT `+tokenColumns+` FROM company_token WHERE company_id = $1 AND id = $2`, reference, tokenID)
}

func (s *Service) findNumbered(ctx context.Context, reference string, to purpose, number int64) (tokenRow, error) {
	return db.One(ctx, s.db, tokens.Scan,
		`SELECT `+tokenColumns+` FROM company_token WHERE company_id = $1 AND purpose = $2 AND number = $3`, reference, string(to), number)
}

// twoPeople returns the rule. Its state is "" if the company has never decided.
func (s *Service) readTwoPeople(ctx context.Context, reference string) (rule, error) {
	r, mac, err := signed(ctx, s.db, rules, `SELECT `+ruleColumns+`, mac FROM company_rule WHERE company_id = $1 AND name = $2`, reference, twoPeople)
	if err == nil && r.State != "" && !s.isSigned(rules.Record(r), mac) {
		err = errors.New("company: the row of the rule was altered")
	}
	return r, err
}

func (s *Service) readPayoutRule(ctx context.Context, reference string) (payoutRuleRow, error) {
	r, mac, err := signed(ctx, s.db, payoutRules, `SELECT `+payoutRuleColumns+`, mac FROM company_payout_rule WHERE company_id = $1`, reference)
	if err == nil && r.State != "" && !s.isSigned(payoutRules.Record(r), mac) {
		err = errors.New("company: the row of the rule for payouts was altered")
	}
	return r, err
}

// signed returns a row with its MAC, as both were at one instant. Without a row it returns the zero value.
func signed[T any](ctx context.Context, q db.Querier, t *db.Declared[T], query string, args ...any) (row T, mac string, err error) {
	row, err = db.OrZero(db.One(ctx, q, func(sc db.Scanner) (one T, err error) {
		return one, sc.Scan(append(t.Targets(&one), &mac)...)
	}, query, args...))
	return row, mac, err
}

// isSigned reports whether a row has the MAC that the ledger gave it.
func (s *Service) isSigned(row db.Record, mac string) bool {
	row = row.Put("mac", mac)
	return s.db.Signer().Verify(db.Content(nil, row.Table, row.Values), mac)
}

// The approvals of a company since an instant, and those of them that wait. The second text has the words of the index
// company_approval_waiting, so that a read of what waits passes over what was decided.
const (
	approvalsSince = ` FROM company_approval WHERE company_id = $1 AND created_at > $2`
	waitingSince   = approvalsSince + ` AND state = 'WAITING'`
)

// Approvals returns a page of the company's approvals, the newest first, and the total count. With waiting, it
// returns only those that wait.
func (s *Service) Approvals(ctx context.Context, reference string, waiting bool, offset, limit int) ([]Approval, int, error) {
	since, some := int64(0), approvalsSince
	if waiting {
		since, some = s.waitingFrom(), waitingSince
	}
	list, total, err := db.Page(ctx, s.db, reference, approvals.Scan, `SELECT count(*)`+some,
		`SELECT `+approvalColumns+some+` ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`, limit, offset, reference, since)
	return list, int(total), err
}

// Cursor returns the place of an approval in the list of the company's approvals.
func (a Approval) Cursor() string { return db.Place{At: clock.Micros(a.CreatedAt), ID: a.ID}.Cursor() }

const approvalsAfter = ` AND (created_at, id) < ($3, $4) ORDER BY created_at DESC, id DESC LIMIT $5`

// ApprovalsAfter returns at most limit approvals of the company, the newest first. They follow the approval with the cursor
// after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid. With waiting, it returns only those that wait.
func (s *Service) ApprovalsAfter(ctx context.Context, reference string, waiting bool, after string, limit int) ([]Approval, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	if waiting {
		return db.All(ctx, s.db, approvals.Scan, `SELECT `+approvalColumns+waitingSince+approvalsAfter, reference, s.waitingFrom(), at.At, at.ID, limit)
	}
	return db.All(ctx, s.db, approvals.Scan, `SELECT `+approvalColumns+approvalsSince+approvalsAfter, reference, int64(0), at.At, at.ID, limit)
}

// waitingFrom returns the instant after which an approval was asked for that has not expired.
func (s *Service) waitingFrom() int64 { return clock.Micros(s.clock.Now().Add(-approvalLife)) }

// Approval returns an approval of the company. An unknown id is a fault of kind Missing.
func (s *Service) Approval(ctx context.Context, reference, approvalID string) (Approval, error) {
	a, _, err := s.approvalWithMAC(ctx, reference, approvalID)
	return a, err
}

var errNoApproval = fault.New(fault.Missing, "Approval not found")

// waitingOf returns how many requests of some kinds one person or API key has waiting.
func (s *Service) waitingOf(ctx context.Context, reference, askedBy string, kinds []string) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64], `SELECT count(*)`+waitingSince+` AND asked_by = $3 AND kind = ANY($4)`, reference, s.waitingFrom(), askedBy, kinds)
}

// waitingOfKind returns the company's approvals of a kind that wait, the oldest first. They are few, because a person may
// have few.
func (s *Service) waitingOfKind(ctx context.Context, reference string, kind ApprovalKind) ([]Approval, error) {
	return db.All(ctx, s.db, approvals.Scan, `SELECT `+approvalColumns+waitingSince+` AND kind = $3 ORDER BY created_at, id`, reference, s.waitingFrom(), string(kind))
}

// approvalWithMAC returns an approval with its MAC, as both were at one instant.
func (s *Service) approvalWithMAC(ctx context.Context, reference, approvalID string) (Approval, string, error) {
	a, mac, err := signed(ctx, s.db, approvals, `SELECT `+approvalColumns+`, mac FROM company_approval WHERE company_id = $1 AND id = $2`, reference, approvalID)
	if err == nil && a.ID == "" {
		err = errNoApproval
	}
	return a, mac, err
}
