package report

import (
	"cmp"
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// mostFindings is the number of breaks that are kept of a comparison. Each break has a case too.
const mostFindings = 500

// Run is a comparison of a bank's statement with the ledger, as it was kept.
type Run struct {
	ID        string
	Bank      string
	From, To  time.Time // the period of the statement; zero if the comparison failed
	Lines     int64     // the lines of the statement
	Payments  int64
	Credits   int64
	Breaks    int64  // the differences
	Undecided int64  // how many of them had no decided case when the comparison ended
	Trouble   string // why the comparison failed, with long numbers masked; "" if it ended
	At        time.Time
	// Findings are the first of the breaks, at most 500. Only FindRun reads them.
	Findings []Found
}

// Found is a break, as a comparison has found it.
type Found struct {
	Reason  operation.Reason
	Company string
	Subject string
	Bank    money.Kobo
	Book    money.Kobo
	Detail  string
	At      time.Time // the time of the last line of the statement about it; zero if there is none
	Case    string    // the id of its case
}

// Reconciled keeps a comparison that has ended, and stores when the bank's statement was last compared.
func (s *Service) Reconciled(ctx context.Context, r Reconciliation) error {
	run := Run{
		ID: id.New(), Bank: r.Bank, From: r.From, To: r.To, Lines: int64(r.Lines), Payments: int64(r.Payments), Credits: int64(r.Receipts),
		Breaks: int64(len(r.Breaks)), Undecided: int64(r.Undecided()), At: s.clock.Now(), Findings: []Found{},
	}
	for _, b := range r.Breaks[:min(len(r.Breaks), mostFindings)] {
		run.Findings = append(run.Findings, b.found())
	}
	return s.db.Tx(ctx, func(q db.Querier) error {
		if err := insertRun(ctx, q, run); err != nil {
			return err
		}
		if err := removeBankDaysAhead(ctx, q, run.Bank, run.At); err != nil {
			return err
		}
		for _, d := range r.bankDays(run) {
			if err := putBankDay(ctx, q, d); err != nil {
				return err
			}
		}
		return setCompared(ctx, q, run.Bank, run.At)
	})
}

// NotReconciled keeps a comparison that has failed.
func (s *Service) NotReconciled(ctx context.Context, bank string, why error) error {
	return insertRun(ctx, s.db, Run{ID: id.New(), Bank: bank, Trouble: why.Error(), At: s.clock.Now()})
}

// Runs returns a page of the comparisons of a bank, or of all banks if it is "", the newest first, and their
// total count.
func (s *Service) Runs(ctx context.Context, bank string, limit, offset int) ([]Run, int64, error) {
	if bank == "" {
		return db.Page(ctx, s.db, settlement.House, scanRun, `SELECT count(*) FROM report_run WHERE company_id = $1`,
			runColumns+`WHERE company_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`, limit, offset, settlement.House)
	}
	return db.Page(ctx, s.db, settlement.House, scanRun, `SELECT count(*) FROM report_run WHERE company_id = $1 AND provider = $2`,
		runColumns+`WHERE company_id = $1 AND provider = $2 ORDER BY id DESC LIMIT $3 OFFSET $4`, limit, offset, settlement.House, bank)
}

// Cursor returns the place of a comparison in the list of comparisons.
func (r Run) Cursor() string { return db.Place{At: clock.Micros(r.At), ID: r.ID}.Cursor() }

// RunsAfter returns at most limit comparisons of a bank, or of all banks if it is "", the newest first. They follow the
// comparison with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid. The id
// begins with the time, so it alone says what follows.
func (s *Service) RunsAfter(ctx context.Context, bank, after string, limit int) ([]Run, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	bound := cmp.Or(at.ID, id.Above)
	if bank == "" {
		return db.All(ctx, s.db, scanRun, runColumns+`WHERE company_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, settlement.House, bound, limit)
	}
	return db.All(ctx, s.db, scanRun, runColumns+`WHERE company_id = $1 AND provider = $2 AND id < $3 ORDER BY id DESC LIMIT $4`, settlement.House, bank, bound, limit)
}

// FindRun returns a comparison with its breaks. It returns a fault of kind Missing if there is none.
func (s *Service) FindRun(ctx context.Context, runID string) (Run, error) {
	r, err := db.One(ctx, s.db, scanRun, runColumns+`WHERE company_id = $1 AND id = $2`, settlement.House, runID)
	if err != nil {
		return r, db.Missing(err, "Reconciliation not found")
	}
	text, err := db.One(ctx, s.db, db.Value[string], `SELECT findings FROM report_run WHERE company_id = $1 AND id = $2`, settlement.House, runID)
	if err == nil {
		err = decode(text, &r.Findings)
	}
	return r, err
}

const runColumns = `SELECT id, provider, from_at, to_at, line_count, payments, credits, breaks, undecided, trouble, created_at FROM report_run `

func scanRun(sc db.Scanner) (r Run, err error) {
	var from, to, at int64
	err = sc.Scan(&r.ID, &r.Bank, &from, &to, &r.Lines, &r.Payments, &r.Credits, &r.Breaks, &r.Undecided, &r.Trouble, &at)
	r.From, r.To, r.At, r.Trouble = clock.Time(from), clock.Time(to), clock.Time(at), MaskText(r.Trouble)
	return r, err
}

func insertRun(ctx context.Context, q db.Querier, r Run) error {
	_, err := q.Exec(ctx, `INSERT INTO report_run (company_id, id, provider, from_at, to_at, line_count, payments, credits, breaks, undecided, findings, trouble, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		settlement.House, r.ID, r.Bank, clock.Micros(r.From), clock.Micros(r.To), r.Lines, r.Payments, r.Credits, r.Breaks, r.Undecided,
		encode(r.Findings), r.Trouble, clock.Micros(r.At))
	return err
}

// setCompared stores when the statement of a bank was last compared with the ledger.
func setCompared(ctx context.Context, q db.Querier, bank string, at time.Time) error {
	_, err := q.Exec(ctx, `INSERT INTO report_reconciliation (company_id, provider, done_at) VALUES ($1, $2, $3)
		ON CONFLICT (company_id, provider) DO UPDATE SET done_at = excluded.done_at`, settlement.House, bank, clock.Micros(at))
	return err
}

// lastRuns returns the last comparison of each bank that is compared. Differences that operators have decided since then are
// not undecided any more.
func lastRuns(ctx context.Context, q db.Querier, now time.Time) ([]Run, error) {
	runs, err := newestRuns(ctx, q, now)
	for i := range runs {
		if err == nil && runs[i].Undecided > 0 {
			runs[i].Undecided, err = stillUndecided(ctx, q, runs[i])
		}
	}
	return runs, err
}

// stillUndecided returns how many differences of a comparison have no decided case now.
func stillUndecided(ctx context.Context, q db.Querier, r Run) (int64, error) {
	text, err := db.One(ctx, q, db.Value[string], `SELECT findings FROM report_run WHERE company_id = $1 AND id = $2`, settlement.House, r.ID)
	if err == nil {
		err = decode(text, &r.Findings)
	}
	if err != nil {
		return 0, err
	}
	companies, cases := make([]string, len(r.Findings)), make([]string, len(r.Findings))
	for i, f := range r.Findings {
		companies[i], cases[i] = f.Company, f.Case
	}
	states, err := caseStates(ctx, q, companies, cases)
	n := r.Breaks - int64(len(r.Findings)) // of those that were not kept nobody knows more
	for _, f := range r.Findings {
		if states[f.Case].state != operation.Resolved {
			n++
		}
	}
	return min(n, r.Undecided), err
}

// newestRuns returns the newest comparison of each bank that is compared, except those of a clock that was ahead.
func newestRuns(ctx context.Context, q db.Querier, now time.Time) ([]Run, error) {
	return db.All(ctx, q, scanRun, `SELECT r.id, r.provider, r.from_at, r.to_at, r.line_count, r.payments, r.credits, r.breaks, r.undecided, r.trouble, r.created_at
		FROM report_reconciliation AS b JOIN report_run AS r ON r.company_id = b.company_id AND r.provider = b.provider AND r.id = (
			SELECT n.id FROM report_run AS n WHERE n.company_id = b.company_id AND n.provider = b.provider AND n.created_at <= $2 ORDER BY n.id DESC LIMIT 1)
		WHERE b.company_id = $1 ORDER BY r.provider`, settlement.House, clock.Micros(now.Add(time.Minute)))
}
