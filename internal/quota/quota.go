// Package quota limits what costs the fintech money or space, for each company
// and day: OTPs, settlement accounts, crypto addresses, virtual accounts. The day
// begins at midnight in Lagos.
//
// A business adds the tally of Next to the unit that begins the thing, and reads a
// refusal of that unit with Reached. The book counts under the company's lock, so
// a quota holds however many try at once. A unit that is refused counts nothing.
package quota

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Kind is what is limited.
type Kind string

// The kinds.
const (
	OTP               Kind = "otp"
	SettlementAccount Kind = "settlement-account"
	CryptoAddress     Kind = "crypto-address"
	VirtualAccount    Kind = "virtual-account"
)

// kind is a Kind with the quota of a company for which operators set none, and
// with its name in messages.
type kind struct {
	Kind
	usual int64
	name  string
}

var kinds = []kind{
	{OTP, 1000, "OTPs"},
	{SettlementAccount, 50, "settlement accounts"},
	{CryptoAddress, 10_000, "crypto addresses"},
	{VirtualAccount, 0, "virtual accounts"},
}

func find(k Kind) (kind, bool) {
	i := slices.IndexFunc(kinds, func(one kind) bool { return one.Kind == k })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// counters begin the names of the tallies.
const counters = "quota/"

func (k Kind) counter(at time.Time) string {
	return counters + string(k) + "/" + at.In(clock.Lagos).Format(time.DateOnly)
}

// Next is the tally of one more of a kind, for the unit that begins it. The unit
// counts where there is no limit too, so a limit set at noon holds for the day.
func Next(ctx context.Context, q db.Querier, company string, k Kind, at time.Time) (ledger.Tally, error) {
	l, err := limit(ctx, q, company, k)
	return ledger.Tally{Name: k.counter(at), Add: 1, Most: l.Most}, err
}

// Reached turns the refusal of a unit because of its quota into a Limited fault,
// which ends at midnight in Lagos. Other errors stay as they are.
func Reached(err error, at time.Time) error {
	r := ledger.Refused(err)
	if r == nil || r.Reason != ledger.Over {
		return err
	}
	name, ours := strings.CutPrefix(r.Tally.Name, counters)
	name, _, _ = strings.Cut(name, "/")
	k, known := find(Kind(name))
	if !ours || !known {
		return err
	}
	return fault.Newf(fault.Limited, "Daily limit of %d %s reached", r.Tally.Most, k.name).After(midnight(at).Sub(at))
}

// midnight is when the day in Lagos ends.
func midnight(at time.Time) time.Time {
	year, month, day := at.In(clock.Lagos).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, clock.Lagos)
}

// Limit is how many of a kind a company may begin in a day. 0 is no limit.
type Limit struct {
	Kind  Kind
	Most  int64
	Since time.Time // zero while operators have set none
}

// limit is the quota in force.
func limit(ctx context.Context, q db.Querier, company string, k Kind) (Limit, error) {
	l, err := db.OrZero(findLimit(ctx, q, company, k))
	l.Kind = k
	if known, ok := find(k); ok && l.Since.IsZero() {
		l.Most = known.usual
	}
	return l, err
}

// Use is a quota with what of it is used up today.
type Use struct {
	Limit
	Used int64
}

// Left is how many more may begin today. Where there is no limit, the number says
// nothing.
func (u Use) Left() int64 { return max(u.Most-u.Used, 0) }

// Actor is the operator who sets a quota. Note is the line of the audit log.
type Actor interface {
	Note(company, action, subject string, details map[string]string, at time.Time) db.Record
}

// Service is what operators do with quotas.
type Service struct {
	db    *db.DB
	book  *ledger.Book
	clock clock.Clock
}

// New is the service on a database and its book.
func New(d *db.DB, book *ledger.Book, c clock.Clock) *Service {
	return &Service{db: d, book: book, clock: c}
}

// Set gives a company a quota from now on. What began today already counts. 0 is
// no limit.
func (s *Service) Set(ctx context.Context, by Actor, company string, k Kind, most int64) error {
	if _, known := find(k); !known {
		names := make([]string, len(kinds))
		for i, one := range kinds {
			names[i] = string(one.Kind)
		}
		return fault.New(fault.Invalid, `"kind" must be one of [`+strings.Join(names, ", ")+`]`)
	}
	if most < 0 {
		return fault.New(fault.Invalid, "A quota must not be negative")
	}
	now := s.clock.Now()
	err := s.book.Commit(ctx, ledger.Unit{Company: company, Notes: []db.Record{
		Limit{k, most, now}.record(company, id.New()),
		by.Note(company, "company.quota", string(k), map[string]string{"most": strconv.FormatInt(most, 10)}, now),
	}})
	if ledger.Is(err, ledger.NoCompany) {
		return fault.New(fault.Missing, "Company not found")
	}
	return err
}

// Uses are a company's quotas and what is used of them on this day in Lagos.
func (s *Service) Uses(ctx context.Context, company string) (day string, uses []Use, err error) {
	now := s.clock.Now()
	uses = make([]Use, len(kinds))
	for i, k := range kinds {
		u := &uses[i]
		if u.Limit, err = limit(ctx, s.db, company, k.Kind); err != nil {
			return "", nil, err
		}
		if u.Used, err = s.book.Last(ctx, company, ledger.Next(k.counter(now))); err != nil {
			return "", nil, err
		}
	}
	return now.In(clock.Lagos).Format(time.DateOnly), uses, nil
}
