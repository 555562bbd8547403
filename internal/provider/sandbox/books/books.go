// Package books is the common part of all simulated providers. It contains a SQLite file, a clock
// that control requests can move, the stories (test scenarios), and the sender of notices
// (notifications).
//
// Each provider has separate tables in the file. The file survives a crash of Kobo, and a test can
// compare what a provider did with what Kobo reports. Several programs may share a file and its
// clock.
package books

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Config states where the books are and how the simulated providers behave.
type Config struct {
	Path  string         // the file of the books; Open creates it if it does not exist
	Clock *clock.Movable // the control endpoints move this clock; if nil, Open creates a clock
	// Hold is the time for which a lost response is held before the connection is closed. It must
	// be longer than the callers' timeouts. Zero means 30 s.
	Hold time.Duration
	Log  *slog.Logger // nil discards all logs
	// Dial, if set, replaces the network of this machine when notices are sent.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Books are the open file, the clock, and the state that providers share.
type Books struct {
	*db.DB
	Clock  *clock.Movable
	Secret []byte // signs tokens; it is created one time for each file
	Log    *slog.Logger

	path             string
	hold             time.Duration
	refusals, losses atomic.Uint64 // count refusals and lost responses, since each alternates between two forms
	release          sync.Once
	released         chan struct{}
	client           *http.Client // sends notices
	wake             chan struct{}
	late             *http.ServeMux // handles the late requests (see late.go)
}

// Part is what a simulated provider contributes to the server after its Open.
type Part struct {
	Mount func(*http.ServeMux) // adds the provider's paths
	// Controls has the HTTP method and the path as keys, such as "POST /sandbox/credit". A path
	// that ends with a slash matches paths with one more element.
	Controls map[string]Control
	// Requests lists the requests that the provider recorded, whether it carried them out or not. If
	// reference is "", it lists all of them; otherwise it lists those with this reference. It may be nil.
	Requests func(ctx context.Context, reference string) ([]Row, error)
	Outbox   *Outbox // the notices that the provider sends; nil if it sends none
	Own      *Books  // the provider's separate books; nil if it uses the shared books
	// Float is the account whose balance /sandbox/provider-ledger reports. Only one provider sets
	// it.
	Float string
}

// Provider is a simulated provider that has not been opened.
type Provider interface {
	// Open prepares the provider's tables and settings. The server calls it one time.
	Open(ctx context.Context, b *Books) (Part, error)
}

var tables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_setting (
		name  TEXT NOT NULL PRIMARY KEY,
		value TEXT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_account (
		number       TEXT   NOT NULL PRIMARY KEY,
		balance_kobo BIGINT NOT NULL CHECK (balance_kobo >= 0)
	)`,
	notices.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_outbox_due ON sandbox_outbox (sender, next_at) WHERE state = 'waiting'`,
	queue.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_late_due ON sandbox_late (due_at)`,
	denials.Definition(),
}

// Open opens the books or creates them, and sets the clock to the stored offset.
func Open(ctx context.Context, cfg Config) (*Books, error) {
	if cfg.Clock == nil {
		cfg.Clock = new(clock.Movable)
	}
	if cfg.Hold <= 0 {
		cfg.Hold = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d, err := db.Open(ctx, "sqlite:"+cfg.Path)
	if err != nil {
		return nil, err
	}
	b := &Books{
		DB: d, Clock: cfg.Clock, Log: cfg.Log, path: cfg.Path, hold: cfg.Hold, released: make(chan struct{}), client: newClient(cfg.Dial),
		wake: make(chan struct{}, 1), late: http.NewServeMux(),
	}
	if err := b.prepare(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return b, nil
}

// furtherBooks is the prefix of the settings that store the numbers of additional books.
const furtherBooks = "books "

// Beside opens additional books with the given name. They share the clock and the sender of notices
// with b. The additional books are numbered from 1, and the same name always gets the same number.
func (b *Books) Beside(ctx context.Context, name string) (further *Books, number int, err error) {
	text, err := b.Remember(ctx, furtherBooks+name, func() (string, error) {
		n, err := db.One(ctx, b, db.Value[int64], `SELECT COUNT(*) FROM sandbox_setting WHERE name LIKE $1`, furtherBooks+"%")
		return strconv.FormatInt(n+1, 10), err
	})
	if err == nil {
		number, err = strconv.Atoi(text)
	}
	if err != nil {
		return nil, 0, err
	}
	further, err = Open(ctx, Config{Path: strings.TrimSuffix(b.path, ".db") + "-" + name + ".db", Clock: b.Clock, Hold: b.hold, Log: b.Log})
	if err == nil {
		further.wake = b.wake
	}
	return further, number, err
}

func (b *Books) prepare(ctx context.Context) error {
	if err := b.Create(ctx, tables...); err != nil {
		return err
	}
	secret, err := b.Remember(ctx, "token_secret", func() (string, error) {
		var secret [32]byte
		_, err := rand.Read(secret[:])
		return hex.EncodeToString(secret[:]), err
	})
	if err != nil {
		return err
	}
	b.Secret = []byte(secret)
	return b.Follow(ctx)
}

// Create runs SQL statements that create tables. The tables are not part of Kobo's schema, so
// Kobo's migrations do not create them.
func (b *Books) Create(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := b.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Release ends the responses that are held open, and no response is held open afterwards. So a
// server can shut down without waiting.
func (b *Books) Release() { b.release.Do(func() { close(b.released) }) }

// Close releases the held responses and closes the file.
func (b *Books) Close() {
	b.Release()
	b.client.CloseIdleConnections()
	b.DB.Close()
}

// Now returns the clock's time in microseconds.
func (b *Books) Now() int64 { return clock.Micros(b.Clock.Now()) }

// Text formats an instant as the providers' responses show it.
func Text(micros int64) string { return clock.Text(clock.Time(micros)) }

// clockOffset is the name of the setting that stores the clock's offset.
const clockOffset = "clock_offset"

// MoveClock moves the clock forward by d, and stores and returns its offset. A move that leads beyond the offset most is
// refused. A different program on the same books may have moved the clock since this one last followed, so the move starts
// from the stored offset if that is larger. Otherwise the move of the other program would be lost.
func (b *Books) MoveClock(ctx context.Context, d, most time.Duration) (offset time.Duration, err error) {
	err = b.Tx(ctx, func(q db.Querier) error {
		stored, err := storedOffset(ctx, q)
		if err != nil {
			return err
		}
		offset = (max(stored, b.Clock.Offset()) + d).Truncate(time.Microsecond)
		if offset > most {
			return Complaint("The clock cannot be moved that far")
		}
		return set(ctx, q, clockOffset, strconv.FormatInt(offset.Microseconds(), 10))
	})
	if err != nil {
		return 0, err
	}
	b.Clock.MoveTo(offset)
	return offset, nil
}

// Follow moves the clock forward to the stored offset. A different program on the same books may
// have stored a larger offset.
func (b *Books) Follow(ctx context.Context) error {
	to, err := storedOffset(ctx, b)
	if err != nil {
		return err
	}
	if to > b.Clock.Offset() {
		b.Clock.MoveTo(to)
		b.Nudge()
	}
	return nil
}

// storedOffset returns the stored offset of the clock, which is 0 before the first move.
func storedOffset(ctx context.Context, q db.Querier) (time.Duration, error) {
	text, err := setting(ctx, q, clockOffset)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errors.New("the clock's offset in the books cannot be read")
	}
	return time.Duration(n) * time.Microsecond, nil
}

// Setting returns a stored value, or "" if there is none.
func (b *Books) Setting(ctx context.Context, name string) (string, error) {
	return setting(ctx, b, name)
}

func setting(ctx context.Context, q db.Querier, name string) (string, error) {
	return db.OrZero(db.One(ctx, q, db.Value[string], `SELECT value FROM sandbox_setting WHERE name = $1`, name))
}

// Set stores a value under a name.
func (b *Books) Set(ctx context.Context, name, value string) error { return set(ctx, b, name, value) }

func set(ctx context.Context, q db.Querier, name, value string) error {
	_, err := q.Exec(ctx,
		`INSERT INTO sandbox_setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2`, name, value)
	return err
}

// Remember returns a setting that is created at its first use. If two programs create the setting
// concurrently, both get the same value.
func (b *Books) Remember(ctx context.Context, name string, newValue func() (string, error)) (string, error) {
	value, err := b.Setting(ctx, name)
	if err != nil || value != "" {
		return value, err
	}
	if value, err = newValue(); err != nil {
		return "", err
	}
	if _, err := b.Exec(ctx, `INSERT INTO sandbox_setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, value); err != nil {
		return "", err
	}
	return b.Setting(ctx, name)
}

// OpeningFloat is the opening balance of the client's (Kobo's) account at each provider: ten
// billion naira.
const OpeningFloat = 10_000_000_000 * money.Naira

// ErrPoor is the error for a debit that exceeds the balance.
var ErrPoor = errors.New("the account has not enough money")

// OpenAccount creates an account of the client (Kobo) with the balance OpeningFloat, unless the
// account exists.
func (b *Books) OpenAccount(ctx context.Context, number string) error {
	_, err := b.Exec(ctx, `INSERT INTO sandbox_account (number, balance_kobo) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		number, int64(OpeningFloat))
	return err
}

// Begin gives an account of the client another opening balance. An account on which money has moved keeps its balance.
func (b *Books) Begin(ctx context.Context, number string, balance money.Kobo) error {
	_, err := b.Exec(ctx, `UPDATE sandbox_account SET balance_kobo = $2 WHERE number = $1 AND balance_kobo = $3`,
		number, int64(balance), int64(OpeningFloat))
	return err
}

// Balance returns the balance of an account.
func (b *Books) Balance(ctx context.Context, number string) (money.Kobo, error) {
	return db.One(ctx, b, db.Value[money.Kobo], `SELECT balance_kobo FROM sandbox_account WHERE number = $1`, number)
}

// Move adds an amount to an account and returns the new balance. The amount may be negative. If the
// balance would fall below zero, Move returns ErrPoor.
func Move(ctx context.Context, q db.Querier, number string, amount money.Kobo) (money.Kobo, error) {
	balance, err := db.One(ctx, q, db.Value[money.Kobo], `UPDATE sandbox_account SET balance_kobo = balance_kobo + $1
		WHERE number = $2 AND balance_kobo + $1 >= 0 RETURNING balance_kobo`, int64(amount), number)
	if errors.Is(err, db.ErrNone) {
		return 0, ErrPoor
	}
	return balance, err
}
