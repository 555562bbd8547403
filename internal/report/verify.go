package report

import (
	"context"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// Finding is a row on which the book contradicts itself. It holds no secret.
type Finding struct {
	Company  string
	Check    string // the check that found the row; docs/operating.md says what to do
	ID       string
	Expected string
	Found    string
}

// String is the finding in one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s: expected %s, found %s", f.Company, f.Check, f.ID, f.Expected, f.Found)
}

// Verification is what comparing all copies of a company's facts came to.
type Verification struct {
	Integrity
	Findings []Finding
}

// Sound tells whether nothing contradicts anything.
func (v Verification) Sound() bool { return v.Intact() && len(v.Findings) == 0 }

// Lines are all contradictions in words.
func (v Verification) Lines() []string {
	lines := append([]string(nil), v.Wrongs...)
	for _, f := range v.Findings {
		lines = append(lines, f.String())
	}
	return lines
}

// most is how many findings a check reports of one company: the first rows show
// what is wrong, and memory stays bounded. Each statement ends with upTo.
const (
	most = 20
	upTo = " LIMIT 20"
)

// check compares two copies of a fact. Its statement has one parameter, the
// company, and finds the rows that differ: id, expected, found.
type check struct {
	name string
	find string
	// when is a cheap statement that finds anything at all where find may. Without
	// a row from it, the dear statement is not asked. Empty means always.
	when string
}

// Verify compares all copies of a company's facts, as they were at one instant.
func (s *Service) Verify(ctx context.Context, company string) (v Verification, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		v, err = Verify(ctx, q, company, s.clock.Now())
		return err
	})
	return v, err
}

// Verify is Service.Verify on what q sees, which must be one instant.
func Verify(ctx context.Context, q db.Querier, company string, now time.Time) (Verification, error) {
	ctx = db.Patient(ctx)
	var v Verification
	var err error
	if v.Integrity, err = integrity(ctx, q, company, now); err != nil {
		return v, err
	}
	for _, c := range checks {
		found, err := c.run(ctx, q, company)
		if err != nil {
			return v, fmt.Errorf("report: %s: %w", c.name, err)
		}
		v.Findings = append(v.Findings, found...)
	}
	limits, err := limitCounters(ctx, q, company)
	v.Findings = append(v.Findings, limits...)
	return v, err
}

func (c check) run(ctx context.Context, q db.Querier, company string) ([]Finding, error) {
	if c.when != "" {
		first, err := findings(ctx, q, c.when, company, c.name)
		if err != nil || len(first) == 0 {
			return nil, err
		}
	}
	return findings(ctx, q, c.find, company, c.name)
}

func findings(ctx context.Context, q db.Querier, statement, company, name string) ([]Finding, error) {
	return db.All(ctx, q, func(s db.Scanner) (Finding, error) {
		f := Finding{Company: company, Check: name}
		return f, s.Scan(&f.ID, &f.Expected, &f.Found)
	}, statement, company)
}

// Companies are all companies of which there is anything in the database, in
// order: what `kobo verify` walks over. One whose head row is gone is among them.
func (s *Service) Companies(ctx context.Context) ([]string, error) { return companies(ctx, s.db) }
