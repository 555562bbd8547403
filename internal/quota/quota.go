// Package quota limits how many objects that cost the fintech money or space a company may create
// in a day. There are quotas for OTPs, settlement accounts, crypto addresses and virtual accounts.
// The day begins at midnight in Lagos.
//
// A package that creates something with a quota calls Count on the unit that creates it. If the
// ledger refuses that unit, the package passes the error to Reached. The ledger counts under the
// company's lock, so concurrent requests never exceed a quota. A refused unit counts nothing.
package quota

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Kind is a type of object that has a quota.
type Kind string

// These are the kinds with a quota.
const (
	OTP               Kind = "otp"
	SettlementAccount Kind = "settlement-account"
	CryptoAddress     Kind = "crypto-address"
	VirtualAccount    Kind = "virtual-account"
)

// kind is a Kind with its default quota and its name in error messages.
type kind struct {
	Kind
	usual int64 // the default quota, for a company that has none set
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

// counters is the prefix of the names of the quotas' limit counters.
const counters = "quota/"

func (k Kind) counter(at time.Time) string {
	return counters + string(k) + "/" + at.In(clock.Lagos).Format(time.DateOnly)
}

// changes returns the name of the counter of the changes of a company's quota. If somebody else has changed the quota since
// the highest version was read, the ledger refuses the commit (ledger.Over).
func (k Kind) changes() string { return "set/quota/" + string(k) }

// Count makes a unit count one more object of a kind. The unit counts even if there is no quota. So
// a quota that is set at noon includes the whole day.
func Count(ctx context.Context, q db.Querier, u *ledger.Unit, k Kind, at time.Time) error {
	l, err := limit(ctx, q, u.Company, k)
	u.Count(k.counter(at), 1, l.Most)
	return err
}

// Reached turns the refusal of a unit that exceeds its quota into a fault of kind Limited. The
// fault allows a retry at midnight in Lagos. Other errors stay unchanged.
func Reached(err error, at time.Time) error {
	r := ledger.Refused(err)
	if r == nil || r.Reason != ledger.Over {
		return err
	}
	name, ours := strings.CutPrefix(r.Count.Name, counters)
	name, _, _ = strings.Cut(name, "/")
	k, known := find(Kind(name))
	if !ours || !known {
		return err
	}
	return fault.Newf(fault.Limited, "Daily limit of %d %s reached", r.Count.Limit, k.name).With(fault.QuotaReached).After(midnight(at).Sub(at))
}

// midnight returns the end of the day in Lagos.
func midnight(at time.Time) time.Time {
	year, month, day := at.In(clock.Lagos).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, clock.Lagos)
}

// Limit is the number of objects of a kind that a company may create in a day. 0 means no limit.
type Limit struct {
	Kind  Kind
	Most  int64
	Since time.Time // when the quota was set; zero for the default quota
}

// limit returns the quota that is now in force.
func limit(ctx context.Context, q db.Querier, company string, k Kind) (Limit, error) {
	l, err := db.OrZero(findLimit(ctx, q, company, k))
	l.Kind = k
	if known, ok := find(k); ok && l.Since.IsZero() {
		l.Most = known.usual
	}
	return l, err
}

// Use is a quota and the part of it that the company has used today.
type Use struct {
	Limit
	Used int64
}

// Left returns the number of objects that may still be created today. Without a limit, the number
// has no meaning.
func (u Use) Left() int64 { return max(u.Most-u.Used, 0) }

// Actor is the operator who sets a quota. Its method Audit appends a line to the audit log.
type Actor interface {
	Audit(u *ledger.Unit, action, subject string, details map[string]string, at time.Time)
}

// Service sets and shows quotas for operators.
type Service struct {
	db    *db.DB
	book  *ledger.Book
	clock clock.Clock
}

// New returns a service that uses a database and its ledger.
func New(d *db.DB, book *ledger.Book, c clock.Clock) *Service {
	return &Service{db: d, book: book, clock: c}
}

// Check returns an error if there is no such kind, or the quota is negative.
func Check(k Kind, most int64) error {
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
	return nil
}

// Set gives a company a new quota, which is in force immediately. The quota counts what
// the company created earlier today. 0 means no limit. The quota is in force also if the clock was
// ahead when the earlier quota was set. If two are set at once, the later commit is in force.
func (s *Service) Set(ctx context.Context, by Actor, company string, k Kind, most int64) error {
	if err := Check(k, most); err != nil {
		return err
	}
	for {
		last, changes, err := s.last(ctx, company, k)
		if err != nil {
			return err
		}
		err = s.set(ctx, by, row{company, k, id.After(last), most, s.clock.Now()}, changes)
		switch {
		case ledger.Is(err, ledger.NoCompany):
			return fault.New(fault.Missing, "Company not found")
		case !ledger.IsOver(err, k.changes()):
			return err
		}
	}
}

// set commits a quota, if the company's quota of that kind has been changed this often before.
func (s *Service) set(ctx context.Context, by Actor, to row, changes int64) error {
	u := ledger.For(to.Company)
	u.Count(to.Kind.changes(), 1, changes+1)
	u.Append(quotas.Record(to))
	by.Audit(&u, "company.quota", string(to.Kind), map[string]string{"most": strconv.FormatInt(to.Most, 10), "version": to.Version}, to.CreatedAt)
	event.Emit(&u, event.LimitsChanged, event.Limit{CompanyID: to.Company, Limit: string(to.Kind), Per: "day", Count: wire.Number(to.Most)})
	return s.book.Commit(ctx, u)
}

// Uses returns a company's quotas and how much of them is used on this day in Lagos.
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
