package report

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// PaymentLine is a row of the operators' list of payments.
type PaymentLine struct {
	Kind               string // payout, vtu, card, credit, adjustment or transfer
	Reference, Company string
	CompanyName        string // "" for the house
	State              string // as the row stores it, such as PENDING
	// Word is what the state means: sending, accepted, unknown, case, paid, failed or reversed for an operation,
	// received, ownerless or assigned for a credit (operators have assigned it to a company, which has a credit of its own),
	// waiting, booked, rejected or withdrawn for an adjustment, booked for a transfer.
	Word         string
	Doubt        operation.Doubt
	Amount, Fee  money.Kobo
	Counterparty string // the beneficiary, the sender, or what was bought; long numbers are masked
	Provider     string
	OwnReference string    // the company's own; "" for none
	SessionID    string    // of a payout, once the bank has named it, or of a credit
	NextAt       time.Time // when the provider is asked again; zero if it is not
	CreatedAt    time.Time
}

// PaymentFilter selects payments. A zero field selects all.
type PaymentFilter struct {
	Company, Kind, Word, Provider string
	From, To                      time.Time  // a payment is not before From and is before To
	Least, Most                   money.Kobo // 0 in Most is no limit
	After                         string     // the cursor of the page before
}

// PaymentPage is a page of payments, newest first.
type PaymentPage struct {
	Payments []PaymentLine
	// Next is the cursor of the next page. It is "" after the last page.
	Next string
	// SearchedTo is how far back the page has looked. A page that finds few payments of a rare kind stops
	// after a bounded number of rows, and the next page goes on there.
	SearchedTo time.Time
}

// paymentRows is the number of payments on a page. A page looks at paymentLook rows of each kind.
const (
	paymentRows = 50
	paymentLook = 10_000
)

// PaymentKinds are the kinds of payments, and PaymentWords what a state can mean.
var (
	PaymentKinds = []string{"payout", "vtu", "card", "credit", "adjustment", "transfer"}
	PaymentWords = []string{"open", "unconfirmed", "sending", "accepted", "unknown", "case", "paid", "failed", "reversed", "received", "ownerless", "assigned", "waiting", "booked", "rejected", "withdrawn"}
)

// unconfirmed is the state of a look for operations that are PENDING or FAILED. No row stores it.
const unconfirmed = "UNCONFIRMED"

// statesOf are the states of the words, as rows store them. The word open covers sending, accepted, unknown and
// case, and the word unknown covers accepted, because its outcome is not known either.
var statesOf = map[string]string{
	"open": "PENDING", "unconfirmed": unconfirmed,
	"sending": "PENDING", "accepted": "PENDING", "unknown": "PENDING", "case": "PENDING", "paid": "SUCCESS", "failed": "FAILED", "reversed": "REVERSED",
	"received": "RECEIVED", "ownerless": "OWNERLESS", "assigned": "ASSIGNED", "waiting": "WAITING", "booked": "BOOKED", "rejected": "REJECTED", "withdrawn": "WITHDRAWN",
}

// position is a place in the list: the payments after it are older.
type position struct {
	at int64
	id string
}

func (p position) text() string { return db.Place{At: p.at, ID: p.id}.Cursor() }

// positionOf reads a cursor. "" is the position before the newest payment that is older than to.
func positionOf(cursor string, to time.Time) (position, error) {
	if cursor == "" && !to.IsZero() {
		return position{at: clock.Micros(to)}, nil
	}
	p, err := db.PlaceOf(cursor)
	return position{p.At, p.ID}, err
}

// compare orders two places as the list does, newest first.
func (p position) compare(other position) int {
	return cmp.Or(cmp.Compare(other.at, p.at), cmp.Compare(other.id, p.id))
}

// paymentRow is a payment as one of the sources returns it.
type paymentRow struct {
	kind, company, id, state, provider string
	amount, fee                        money.Kobo
	calledUntil                        int64
	outcome, code                      string
	next, created                      int64
	other                              string
}

func (r paymentRow) position() position { return position{r.created, r.id} }

// look is what one source is asked for.
type look struct {
	PaymentFilter
	from, most int64
	at         position
	state      string
	depth      int64 // the number of rows that each source looks at
}

func (l look) args(rows int64) []any {
	return []any{l.at.at, l.at.id, l.from, l.depth, l.Kind, l.state, l.Provider, int64(l.Least), l.most, l.Company, rows}
}

// Payments returns a page of the payments of all companies, or of one. It looks at a bounded number of
// rows of each kind. A wrong cursor is a fault of the kind Invalid.
func (s *Service) Payments(ctx context.Context, f PaymentFilter) (out PaymentPage, err error) {
	at, err := positionOf(f.After, f.To)
	if err != nil {
		return out, err
	}
	l := look{PaymentFilter: f, at: at, most: math.MaxInt64, state: statesOf[f.Word], depth: s.depth}
	if f.Most > 0 {
		l.most = int64(f.Most)
	}
	if !f.From.IsZero() {
		l.from = clock.Micros(f.From)
	}
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		rows, reached, err := s.look(ctx, q, l)
		if err == nil {
			out, err = s.paymentPage(ctx, q, rows, reached, f.Word)
		}
		return err
	})
	return out, err
}

// look asks the sources that can have a payment of the filter. It returns their rows, newest first. The
// list is whole down to the position reached, which is zero if the sources have no older row.
func (s *Service) look(ctx context.Context, q db.Querier, l look) (rows []paymentRow, reached position, err error) {
	if l.state == "PENDING" {
		rows, err = s.pendingPayments(ctx, q, l)
		return rows, position{}, err
	}
	for _, source := range paymentSources {
		if l.Kind != "" && !slices.Contains(source.kinds, l.Kind) || l.state != "" && !slices.Contains(source.states, l.state) || source.ofCompany != (l.Company != "") && !source.both {
			continue
		}
		found, err := source.rows(ctx, q, l.args(paymentRows+1))
		if err != nil {
			return nil, reached, err
		}
		end := position{}
		if len(found) > paymentRows {
			end = found[paymentRows].position()
		} else if end, err = source.reached(ctx, q, l); err != nil {
			return nil, reached, err
		}
		if end != (position{}) && (reached == (position{}) || end.compare(reached) < 0) {
			reached = end
		}
		rows = append(rows, found...)
	}
	slices.SortFunc(rows, func(a, b paymentRow) int { return a.position().compare(b.position()) })
	return rows, reached, nil
}

// paymentPage returns the first rows as a page, with the names that people read.
func (s *Service) paymentPage(ctx context.Context, q db.Querier, rows []paymentRow, reached position, word string) (out PaymentPage, err error) {
	if reached != (position{}) {
		rows = slices.DeleteFunc(rows, func(r paymentRow) bool { return r.position().compare(reached) > 0 })
		out.Next, out.SearchedTo = reached.text(), clock.Time(reached.at)
	}
	if len(rows) > paymentRows {
		rows = rows[:paymentRows]
		last := rows[paymentRows-1].position()
		out.Next, out.SearchedTo = last.text(), clock.Time(last.at)
	}
	var companies, ids []string
	for _, r := range rows {
		companies, ids = append(companies, r.company), append(ids, r.id)
	}
	slices.Sort(companies)
	companies = slices.Compact(companies)
	names, err := companyNames(ctx, q, companies)
	if err != nil {
		return out, err
	}
	others, err := besides(ctx, q, companies, ids)
	if err != nil {
		return out, err
	}
	open, err := openSubjects(ctx, q, companies, ids)
	if err != nil {
		return out, err
	}
	doubts, err := operation.DoubtsAnywhere(ctx, q, companies, ids)
	now := s.clock.Now()
	for _, r := range rows {
		p := PaymentLine{
			Kind: r.kind, Reference: r.id, Company: r.company, CompanyName: names[r.company], State: r.state, Word: r.word(open[r.id], now), Doubt: doubts[r.id], Amount: r.amount, Fee: r.fee,
			Provider: r.provider, Counterparty: MaskText(cmp.Or(others[r.id].other, r.other)),
			OwnReference: others[r.id].own, SessionID: r.session(others[r.id]), CreatedAt: clock.Time(r.created),
		}
		if r.next > 0 && r.state == string(operation.Pending) {
			p.NextAt = clock.Time(r.next)
		}
		if covers(word, p.Word) {
			out.Payments = append(out.Payments, p)
		}
	}
	return out, err
}

// session returns the session ID of a payout or of a credit. A payout that the bank has only accepted may have an id of
// the bank's own instead, which no other bank knows.
func (r paymentRow) session(b beside) string {
	if r.kind == "payout" {
		return operation.SessionOf(b.session)
	}
	return b.session
}

// covers reports whether the word of a filter covers the word of a row, which has a state of the filter.
func covers(filter, word string) bool {
	switch filter {
	case "", "open", "unconfirmed":
		return true
	case "unknown":
		return word == "unknown" || word == "accepted"
	}
	return word == filter
}

// word returns what the state of a row means.
func (r paymentRow) word(hasCase bool, now time.Time) string {
	switch {
	case r.state != string(operation.Pending):
		for word, state := range statesOf {
			if state == r.state {
				return word
			}
		}
	case hasCase:
		return "case"
	case r.outcome == "" && r.calledUntil > clock.Micros(now):
		return "sending"
	case operation.IsAccepted(r.kind, r.outcome, r.code):
		return "accepted"
	}
	return "unknown"
}
