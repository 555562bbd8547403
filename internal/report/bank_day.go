package report

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// BankDays is the maximum number of days in one question about days of banks.
const BankDays = 31

// StatementDay is what a bank's statement has for a day.
type StatementDay struct {
	Began   time.Time // midnight in Lagos
	Lines   int
	In, Out money.Kobo
	// Charges is true if the bank's own charges of the day were compared. They are compared a day later.
	Charges bool
}

// daysOf adds up the lines of each whole day of a window.
func daysOf(w window, lines []provider.StatementLine) (out []StatementDay) {
	at := map[time.Time]int{}
	for began := w.from; !began.AddDate(0, 0, 1).After(w.to); began = began.AddDate(0, 0, 1) {
		at[began] = len(out)
		out = append(out, StatementDay{Began: began, Charges: !chargesOpen(began, w)})
	}
	for _, l := range lines {
		i, whole := at[midnight(l.At)]
		if !whole {
			continue
		}
		if out[i].Lines++; l.Credit {
			out[i].In += l.Amount
		} else {
			out[i].Out += l.Amount
		}
	}
	return out
}

// BankDay is a day of a bank's statement beside the ledger, as the last comparison has seen it.
type BankDay struct {
	StatementDay
	Bank string
	Run  string    // the id of the comparison
	At   time.Time // when the comparison ended
	// Difference is the sum of the effects of the day's breaks. Breaks is their number.
	Difference money.Kobo
	Breaks     int64
	// Findings are the day's breaks, at most 500.
	Findings []DayBreak
}

// Moved returns how the day changed the balance at the bank.
func (d BankDay) Moved() money.Kobo { return d.In - d.Out }

// Booked returns how the movements of the day changed the balance in the ledger.
func (d BankDay) Booked() money.Kobo { return d.Moved() - d.Difference }

// Explained returns the part of the difference that the decisions of two operators explain.
func (d BankDay) Explained() (sum money.Kobo) {
	for _, f := range d.Findings {
		sum += f.Explained
	}
	return sum
}

// DayBreak is a break of a day with the present state of its case.
type DayBreak struct {
	Found
	// Effect is how much higher the bank's balance is than the ledger's because of the break.
	Effect  money.Kobo
	State   operation.CaseState `json:"-"` // "" if there is no case
	Outcome string              `json:"-"` // what operators have decided
	// Explained is the part of Effect that the decision explains.
	Explained money.Kobo `json:"-"`
}

// tell adds the present state of the break's case. A decision that moved the amount of the case explains no more than that amount, and
// a dismissal no more than it covers. The break may have grown since the case was opened.
func (b *DayBreak) tell(c caseState) {
	b.State, b.Outcome, b.Explained = c.state, c.outcome, 0
	if c.state != operation.Resolved {
		return
	}
	switch b.Explained = b.Effect; c.outcome {
	case operation.Booked, operation.Assigned:
		most := max(c.amount, -c.amount)
		b.Explained = min(max(b.Effect, -most), most)
	case operation.Dismissed:
		found := b.Bank - b.Book
		if b.Explained = operation.Covered(c.amount, found); b.Effect != found {
			b.Explained = -b.Explained
		}
	}
}

// isPart reports whether the decision of the break's case explains a part of the break only.
func (b DayBreak) isPart() bool { return b.State == operation.Resolved && b.Explained != b.Effect }

// effect returns how much higher the bank's balance is than the ledger's because of a break.
func (b Break) effect() money.Kobo {
	if b.credit || b.Reason == operation.MissingCredit {
		return b.Bank - b.Book
	}
	return b.Book - b.Bank
}

func (b Break) found() Found {
	return Found{b.Reason, b.Company, b.Subject, b.Bank, b.Book, b.Detail, b.At, b.Case.ID}
}

// bankDays returns the whole days of a comparison with their breaks. A break of another day is kept by the
// comparison alone.
func (r Reconciliation) bankDays(run Run) []BankDay {
	out := make([]BankDay, len(r.Days))
	at := map[time.Time]*BankDay{}
	for i, d := range r.Days {
		out[i] = BankDay{StatementDay: d, Bank: r.Bank, Run: run.ID, At: run.At, Findings: []DayBreak{}}
		at[d.Began] = &out[i]
	}
	for _, b := range r.Breaks {
		d := at[b.day]
		if d == nil {
			continue
		}
		d.Breaks++
		d.Difference += b.effect()
		if len(d.Findings) < mostFindings {
			d.Findings = append(d.Findings, DayBreak{Found: b.found(), Effect: b.effect()})
		}
	}
	return out
}

// BankDays returns the days from … to, without to, of a bank, or of all banks if bank is "", the newest first.
// Both are midnights in Lagos. A day that was not compared yet is left out.
func (s *Service) BankDays(ctx context.Context, bank string, from, to time.Time) ([]BankDay, error) {
	if err := CheckBankDays(from, to); err != nil {
		return nil, err
	}
	return s.toldDays(ctx, bank, from, to)
}

// PartlyExplained returns the oldest day of a bank, at or after from, with a difference of which the decision of its case explains a part
// only. It returns the zero time if there is none. A comparison that covers the day opens a case about the rest.
func (s *Service) PartlyExplained(ctx context.Context, bank string, from time.Time) (oldest time.Time, err error) {
	list, err := s.toldDays(ctx, bank, midnight(from), s.clock.Now())
	for _, d := range list {
		if slices.ContainsFunc(d.Findings, DayBreak.isPart) {
			oldest = d.Began // the newest day comes first
		}
	}
	return oldest, err
}

// toldDays returns days like BankDays, as many as there are.
func (s *Service) toldDays(ctx context.Context, bank string, from, to time.Time) ([]BankDay, error) {
	list, err := bankDaysBetween(ctx, s.db, bank, dayNumber(from), dayNumber(to))
	if err != nil {
		return nil, err
	}
	var companies, ids []string
	for _, d := range list {
		for _, f := range d.Findings {
			companies, ids = append(companies, f.Company), append(ids, f.Case)
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	states, err := caseStates(ctx, s.db, companies, ids)
	for _, d := range list {
		for i, f := range d.Findings {
			d.Findings[i].tell(states[f.Case])
		}
	}
	return list, err
}

// CheckBankDays refuses a period that ends before it begins, or that has more than BankDays days.
func CheckBankDays(from, to time.Time) error { return checkDays(from, to, BankDays) }

// checkDays refuses a period that ends before it begins, or that is too long.
func checkDays(from, to time.Time, most int64) error {
	switch n := dayNumber(to) - dayNumber(from); {
	case n <= 0:
		return fault.New(fault.Invalid, `"to" must not be before "from"`)
	case n > most:
		return fault.Newf(fault.Invalid, "The period must have at most %d days", most)
	}
	return nil
}

// removeBankDaysAhead removes the days of a bank that were compared after an instant, by a clock that was ahead. They had not ended.
func removeBankDaysAhead(ctx context.Context, q db.Querier, bank string, now time.Time) error {
	_, err := q.Exec(ctx, `DELETE FROM report_bank_day WHERE company_id = $1 AND provider = $2 AND compared_at > $3`,
		settlement.House, bank, clock.Micros(now.Add(time.Minute)))
	return err
}

func putBankDay(ctx context.Context, q db.Querier, d BankDay) error {
	charges := 0
	if d.Charges {
		charges = 1
	}
	_, err := q.Exec(ctx, `INSERT INTO report_bank_day (company_id, provider, day, run_id, line_count, in_kobo, out_kobo, difference_kobo, breaks, charges, findings, compared_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (company_id, provider, day) DO UPDATE SET run_id = excluded.run_id, line_count = excluded.line_count, in_kobo = excluded.in_kobo,
			out_kobo = excluded.out_kobo, difference_kobo = excluded.difference_kobo, breaks = excluded.breaks, charges = excluded.charges,
			findings = excluded.findings, compared_at = excluded.compared_at`,
		settlement.House, d.Bank, dayNumber(d.Began), d.Run, d.Lines, int64(d.In), int64(d.Out), int64(d.Difference), d.Breaks, charges,
		encode(d.Findings), clock.Micros(d.At))
	return err
}

func bankDaysBetween(ctx context.Context, q db.Querier, bank string, from, to int64) ([]BankDay, error) {
	return db.All(ctx, q, func(sc db.Scanner) (d BankDay, err error) {
		var day, charges, at int64
		var findings string
		err = sc.Scan(&d.Bank, &day, &d.Run, &d.Lines, &d.In, &d.Out, &d.Difference, &d.Breaks, &charges, &findings, &at)
		if err == nil {
			err = decode(findings, &d.Findings)
		}
		d.Began, d.Charges, d.At = dayBegin(day), charges == 1, clock.Time(at)
		return d, err
	}, `SELECT provider, day, run_id, line_count, in_kobo, out_kobo, difference_kobo, breaks, charges, findings, compared_at FROM report_bank_day
		WHERE company_id = $1 AND day >= $2 AND day < $3 AND ($4 = '' OR provider = $4) ORDER BY day DESC, provider`, settlement.House, from, to, bank)
}

// caseState is what has become of a case.
type caseState struct {
	id      string
	state   operation.CaseState
	outcome string
	amount  money.Kobo
}

func caseStates(ctx context.Context, q db.Querier, companies, ids []string) (map[string]caseState, error) {
	list, err := db.All(ctx, q, db.Fields[caseState], `SELECT id, state, outcome, amount_kobo FROM operation_case WHERE company_id = ANY($1) AND id = ANY($2)`, companies, ids)
	out := map[string]caseState{}
	for _, c := range list {
		out[c.id] = c
	}
	return out, err
}
