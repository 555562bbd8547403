package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// progress is how far a company's ledger is verified. It only speeds up later checks, so it is
// written outside the ledger: without the company lock row, and without a sequence number. A lost
// progress costs a longer check, and a check moves it forward only if it finds everything sound.
type progress struct {
	sequence int64                   // the last verified event
	places   map[string]ledger.Place // by account, the last verified entry
	credit   string                  // the last verified credit
	walkedAt time.Time               // when the last finished walk began
	wrongs   []string                // the findings of that walk
}

func progressOf(ctx context.Context, q db.Querier, company string) (progress, error) {
	type row struct {
		sequence               int64
		places, credit, wrongs string
		walkedAt               time.Time
	}
	r, err := db.One(ctx, q, db.Fields[row], `SELECT verified_sequence, places, credit_id, wrongs, walked_at
		FROM report_progress WHERE company_id = $1`, company)
	p := progress{sequence: r.sequence, places: map[string]ledger.Place{}, credit: r.credit, walkedAt: r.walkedAt}
	if errors.Is(err, db.ErrNone) {
		return p, nil
	}
	return p, errors.Join(err, decode(r.places, &p.places), decode(r.wrongs, &p.wrongs))
}

// entries returns the number of verified entries.
func (p progress) entries() (n int64) {
	for _, at := range p.places {
		n += at.Sequence
	}
	return n
}

// copy returns a progress that can move forward by itself.
func (p progress) copy() progress {
	p.places = maps.Clone(p.places)
	return p
}

// save stores how far the ledger is verified. It leaves the walk alone.
func (p progress) save(ctx context.Context, q db.Querier, company string) error {
	_, err := q.Exec(ctx, `
		INSERT INTO report_progress (company_id, verified_sequence, places, credit_id, walk, wrongs, walked_at, due_at)
		VALUES ($1, $2, $3, $4, '', '', 0, 0)
		ON CONFLICT (company_id) DO UPDATE SET verified_sequence = excluded.verified_sequence, places = excluded.places,
			credit_id = excluded.credit_id`, company, p.sequence, encode(p.places), p.credit)
	return err
}

// decode reads a stored JSON text. An empty text changes nothing.
func decode(text string, into any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the types of this package can all be written as JSON
	}
	return string(b)
}

// errTooMuch is the error of a check that could not read all new entries in time. The check has
// stored how far it came, so the next request continues there.
var errTooMuch = fault.New(fault.Unavailable, "Service temporarily unavailable")

// Integrity checks the company's ledger as it is at one instant. It reads a small ledger as a whole.
// Of a large one it reads the rows after those that are verified already, and it compares all
// balances. A daily Walk reads the old rows again, and its findings stay in the result until the
// next walk finds none.
func (s *Service) Integrity(ctx context.Context, company string) (out Integrity, err error) {
	var before, p progress
	var whole bool
	err = s.db.Heavy(ctx, company, func(q db.Querier) error {
		inTime, stop := within(ctx, s.limit)
		defer stop()
		size, err := ledger.Size(ctx, q, company)
		if err == nil {
			before, err = progressOf(ctx, q, company)
		}
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if size <= s.small {
			out, err = integrity(ctx, q, company, now, func(ledger.Transfer, []string) {})
			out.FullWalkAt, p, whole = now, before, true
			return err
		}
		// A known difference must be reported, however long the check takes.
		more := func() bool { return len(before.wrongs) > 0 || inTime() }
		p = before.copy()
		out, whole, err = p.check(ctx, q, company, now, nil, more)
		out.FullWalkAt, out.Wrongs = before.walkedAt, append(out.Wrongs, before.wrongs...)
		return err
	})
	if err == nil && !out.Intact() {
		s.damaged.Inc()
	}
	if out.VerifiedUpTo = before.sequence; err != nil || !out.Intact() {
		return out, err
	}
	out.VerifiedUpTo = out.Sequence
	// The check of a large ledger counts the events only after its last part, so both must be looked at.
	if !whole || max(p.entries()-before.entries(), p.sequence-before.sequence) >= s.small {
		err = p.save(ctx, s.db, company)
	}
	if err == nil && !whole {
		err = errTooMuch
	}
	return out, err
}

// within returns a function that reports whether there is time left. The caller must call stop.
func within(ctx context.Context, limit time.Duration) (more func() bool, stop func()) {
	limited, stop := context.WithTimeout(ctx, limit)
	return func() bool { return limited.Err() == nil }, stop
}

// check verifies what is new since the progress p, and moves p forward. It stops when more returns
// false. In that case it returns false, and p covers only a part of the new entries.
func (p *progress) check(ctx context.Context, q db.Querier, company string, now time.Time, genuine ledger.Genuine, more func() bool) (Integrity, bool, error) {
	sums, whole, err := ledger.VerifyAfter(ctx, q, company, p.places, genuine, more)
	out := ofSums(sums, now)
	if err != nil || !whole {
		return out, false, err
	}
	ctx = db.WithLongTimeout(ctx)
	if err = errors.Join(out.addOperations(ctx, q, openMoney+isOpen), out.addEvents(ctx, q, p.sequence), out.addSuspense(ctx, q)); err != nil {
		return out, false, err
	}
	last := hourBefore(p.credit)
	whole, err = pagesUntil(ctx, q, bookedFrom, company, &last, func() bool { return !out.Intact() || more() },
		func() { out.wrong(notBooked, last) })
	if whole {
		p.sequence, p.credit = out.Sequence, max(p.credit, last)
	}
	return out, whole, err
}

// ofSums returns the part of the result that comes from the ledger.
func ofSums(sums ledger.Report, now time.Time) Integrity {
	out := Integrity{Company: sums.Company, Sequence: sums.Sequence, At: now, Entries: sums.Entries, Wrongs: sums.Wrongs, breaks: sums.Breaks}
	for _, a := range sums.Accounts {
		out.Accounts = append(out.Accounts, AccountCheck{a.ID, a.Entries, a.Balance, a.Sum})
		if a.Clearing() {
			out.InFlight.Clearing += a.Balance
		}
	}
	return out
}

// integrity adds up the whole ledger through the querier q, and calls seen for each transfer. It
// compares the ledger with the operations, the events and the credits.
func integrity(ctx context.Context, q db.Querier, company string, now time.Time, seen func(t ledger.Transfer, row []string)) (Integrity, error) {
	sums, err := ledger.VerifyBeside(ctx, q, company, seen)
	if err != nil {
		return Integrity{}, err
	}
	out := ofSums(sums, now)
	ctx = db.WithLongTimeout(ctx)
	return out, errors.Join(out.addOperations(ctx, q, openMoney+isPending), out.addEvents(ctx, q, 0), out.addCredits(ctx, q))
}

// openMoney is SQL that adds up open operations. A check of new rows finds them by isOpen. A check of
// all rows finds them by isPending, so it also sees an operation whose job was lost.
const (
	openMoney = `SELECT count(*), CAST(coalesce(sum(amount_kobo + fee_kobo), 0) AS BIGINT) FROM operation WHERE`
	isPending = ` operation.company_id = $1 AND operation.state = 'PENDING'`
)

// addOperations compares the money in clearing with the open operations, which the SQL query adds up.
func (i *Integrity) addOperations(ctx context.Context, q db.Querier, query string) error {
	type sum struct {
		count int64
		money money.Kobo
	}
	open, err := db.One(ctx, q, db.Fields[sum], query, i.Company)
	i.InFlight.Operations, i.InFlight.Amount = int(open.count), open.money
	if err == nil && i.InFlight.Clearing != open.money {
		i.wrong("clearing holds %d kobo for open operations of %d kobo", i.InFlight.Clearing, open.money)
	}
	return err
}

// addEvents counts the events after a number, up to which they are verified or archived.
func (i *Integrity) addEvents(ctx context.Context, q db.Querier, after int64) error {
	archived, err := archiveOf(ctx, q, i.Company)
	if err != nil {
		return err
	}
	after = max(after, archived.last)
	type count struct{ events, last int64 }
	c, err := db.One(ctx, q, db.Fields[count], `SELECT count(*), coalesce(max(sequence), $2) FROM event
		WHERE company_id = $1 AND sequence > $2`, i.Company, after)
	c.events += after - archived.missing
	if err == nil && (c.events != i.Sequence || c.last != i.Sequence) {
		i.wrong("there are %d events, the last numbered %d, where the company lock row says %d", c.events, c.last, i.Sequence)
	}
	return err
}

// archive is what kobo archive has moved into files: the number of the last event, and the number of
// events that the files leave out before it.
type archive struct{ last, missing int64 }

func archiveOf(ctx context.Context, q db.Querier, company string) (archive, error) {
	return db.One(ctx, q, db.Fields[archive], `SELECT coalesce(max(last_sequence), 0),
		coalesce(max(last_sequence), 0) - CAST(coalesce(sum(last_sequence - first_sequence + 1), 0) AS BIGINT)
		FROM archive_month WHERE company_id = $1`, company)
}

// pagesUntil reads rows with an id and a mark, and calls wrong for each row whose mark is not "1". It
// begins at the id last, which it moves to the last row that it has read. It reports whether it has
// read all rows before more returned false.
func pagesUntil(ctx context.Context, q db.Querier, query, company string, last *string, more func() bool, wrong func()) (bool, error) {
	enough := false
	err := db.Pages(ctx, q, query, 2, func() []any { return []any{company, *last} }, func(row []string) error {
		if enough = !more(); enough {
			return errTooMuch
		}
		if *last = row[0]; row[1] != "1" {
			wrong()
		}
		return nil
	})
	if enough {
		return false, nil
	}
	return err == nil, err
}

// Both SQL queries find each row and its counterpart by key.
const (
	bookedFrom = `
		SELECT c.id, CASE WHEN t.reference IS NULL THEN '0' ELSE '1' END AS mark FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id AND t.step = '' AND t.amount_kobo = c.amount_kobo
			AND t.credit_account = CASE WHEN c.settlement_id = 0 THEN 'suspense/inbound' ELSE 'settlement/' || CAST(c.settlement_id AS TEXT) END
		WHERE c.company_id = $1 AND c.id >= $2 ORDER BY c.id`
	paidFrom = `
		SELECT v.id, CASE WHEN c.id IS NULL THEN '0' ELSE '1' END AS mark FROM collection AS v
		LEFT JOIN settlement_credit AS c ON c.company_id = v.company_id AND c.id = v.credit_id AND c.account_number = v.account_number
		WHERE v.company_id = $1 AND v.state = 'SUCCESS' AND v.id >= $2 ORDER BY v.id`
)

// hourBefore returns the lowest id that a credit may have that was begun an hour before the given
// credit. The time of an id is when a program began to book the credit, and programs finish in a
// different order. For an id without a time it returns "", so that all credits are read.
func hourBefore(credit string) string {
	if len(credit) < 13 || credit[8] != '-' {
		return ""
	}
	ms, err := strconv.ParseInt(credit[:8]+credit[9:13], 16, 64)
	if err != nil {
		return ""
	}
	early := fmt.Sprintf("%012x", max(ms-time.Hour.Milliseconds(), 0))
	return early[:8] + "-" + early[8:]
}
