package report

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	trees "github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Finding is a row that contradicts another row. A finding holds no secret.
type Finding struct {
	Company  string
	Check    string // the check that found the row; docs/operating.md describes the checks
	ID       string
	Expected string
	Found    string
}

// String returns the finding in one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s: expected %s, found %s", f.Company, f.Check, f.ID, f.Expected, f.Found)
}

// Verification is the result of Verify, which compares each fact about a company with the other
// copies of that fact in the database.
type Verification struct {
	Integrity
	Findings []Finding
	// Unsigned is the number of rows of evidence without a MAC in a company that was not adopted yet
	// (operator.Service.Adopt). These rows are not findings.
	Unsigned int64
	// Unchecked is true if no MAC was checked, because the program has no evidence key.
	Unchecked bool
	// Rows sums up the rows of evidence, so that evidence.Service.Verify need not read them again.
	Rows *trees.Tally
}

// Sound reports whether Verify found no contradiction.
func (v Verification) Sound() bool { return v.Intact() && len(v.Findings) == 0 }

// Lines returns all contradictions, one line each.
func (v Verification) Lines() []string {
	lines := append([]string(nil), v.Wrongs...)
	for _, f := range v.Findings {
		lines = append(lines, f.String())
	}
	return lines
}

// most is the maximum number of findings that a check reports for a company. The first rows are
// enough to show the mistake, and the limit bounds the memory. Each SQL query of a check ends with
// upTo.
const (
	most = 20
	upTo = " LIMIT 20"
)

// check compares two copies of a fact, such as an amount that is in two tables. The SQL query find
// returns the rows of a company that differ, with the columns id, expected and found.
type check struct {
	name string
	find string
	// when is a cheap SQL query. If it returns no row, the query find would return no row either, so
	// find is not run. If when is empty, find always runs.
	when string
	// agree is a fast check. If it returns true, the query find would return no row, so find is not
	// run. It calls seen with each event that it reads.
	agree func(ctx context.Context, q db.Querier, company string, seen func(event []string)) (bool, error)
	// then is an expensive SQL query for details. It runs if find has returned a row.
	then string
	// ordered reads a row of find, which then returns every event, with the account and the number of its
	// entry. The events of an account must be in the same order as the account's entries.
	ordered func(db.Scanner) (toldEvent, error)
}

// checks run while the ledger is added up in parallel. The checks of money come first.
var checks = slices.Concat(moneyChecks, eventChecks, rowChecks, rightsChecks)

// Verify compares all copies of a company's facts, as they are at one instant. In parallel it adds
// up the ledger in a second snapshot, which was taken at a slightly different instant.
func (s *Service) Verify(ctx context.Context, company string) (Verification, error) {
	ctx = s.db.At(db.Reading(ctx), company)
	var v Verification
	var found []Finding
	var checked error
	var beside sync.WaitGroup
	signed, told := newEvidence(s.db.Signer(), company), newEvidence(s.db.Signer(), company)
	beside.Go(func() {
		checked = s.db.Snapshot(ctx, func(q db.Querier) (err error) {
			told = newEvidence(s.db.Signer(), company) // a snapshot may begin again
			found, err = compared(ctx, q, told)
			return err
		})
	})
	err := s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		signed = newEvidence(s.db.Signer(), company)
		v, err = added(ctx, q, signed, s.clock.Now())
		return err
	})
	beside.Wait()
	return v.with(found, signed.join(told)), errors.Join(err, checked)
}

// Verify compares the same facts as Service.Verify. All reads use one querier, which sees one
// instant.
func Verify(ctx context.Context, q db.Querier, signer db.Signer, company string, now time.Time) (Verification, error) {
	signed, told := newEvidence(signer, company), newEvidence(signer, company)
	v, err := added(ctx, q, signed, now)
	if err != nil {
		return v, err
	}
	found, err := compared(ctx, q, told)
	return v.with(found, signed.join(told)), err
}

// with adds the findings of the checks and of the evidence.
func (v Verification) with(found []Finding, e *evidence) Verification {
	e.conclude()
	v.Findings = append(append(v.Findings, found...), e.findings...)
	v.Unsigned, v.Unchecked, v.Rows = e.waiting, e.signer == nil, e.tally
	return v
}

// compared runs the checks. It also checks the events as evidence.
func compared(ctx context.Context, q db.Querier, told *evidence) ([]Finding, error) {
	if err := told.begin(ctx, q); err != nil {
		return nil, err
	}
	found, err := compareAll(ctx, q, told.company, checks, told.event)
	if err != nil {
		return found, err
	}
	lost, err := assignedCredits(db.WithLongTimeout(ctx), q, told.company)
	return append(found, lost...), errors.Join(err, told.addArchived(ctx, q), told.rights.add(db.WithLongTimeout(ctx), q, told.signer, told.company))
}

// added adds up the ledger and the daily limits, and compares all transfers with their owners.
// The owner of a transfer is the row that caused the transfer, such as an operation. It also checks
// the transfers and the audit lines as evidence.
func added(ctx context.Context, q db.Querier, signed *evidence, now time.Time) (v Verification, err error) {
	moved, company := newDigest(maphash.MakeSeed()), signed.company
	if err := signed.begin(ctx, q); err != nil {
		return v, err
	}
	v.Integrity, err = integrity(ctx, q, company, now, func(t ledger.Transfer, row []string) {
		moved.addTransfer(t)
		signed.row(ledger.TransferTable, row)
	})
	if err != nil {
		return v, err
	}
	ctx = db.WithLongTimeout(ctx)
	agree, err := transfersAgree(ctx, q, company, moved)
	if err != nil {
		return v, err
	}
	if !agree {
		if v.Findings, err = compareAll(ctx, q, company, owners, nil); err != nil {
			return v, err
		}
	}
	limits, err := limitCounters(ctx, q, company)
	if err != nil {
		return v, err
	}
	credits, err := compareAll(ctx, q, company, creditChecks, nil)
	v.Findings = append(append(v.Findings, limits...), credits...)
	return v, errors.Join(err, signed.addLines(ctx, q))
}

// compareAll runs checks. Fast checks call seen with each event that they read.
func compareAll(ctx context.Context, q db.Querier, company string, checks []check, seen func(event []string)) (all []Finding, err error) {
	ctx = db.WithLongTimeout(ctx)
	for _, c := range checks {
		found, err := c.run(ctx, q, company, seen)
		if err != nil {
			return all, fmt.Errorf("report: %s: %w", c.name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func (c check) run(ctx context.Context, q db.Querier, company string, seen func(event []string)) ([]Finding, error) {
	if c.agree != nil {
		if agree, err := c.agree(ctx, q, company, seen); err != nil || agree {
			return nil, err
		}
	}
	if c.when != "" {
		first, err := findings(ctx, q, c.when, company, c.name)
		if err != nil || len(first) == 0 {
			return nil, err
		}
	}
	if c.ordered != nil {
		return orderedEvents(ctx, q, c, company)
	}
	found, err := findings(ctx, q, c.find, company, c.name)
	if err != nil || len(found) == 0 || c.then == "" {
		return found, err
	}
	more, err := findings(ctx, q, c.then, company, c.name)
	return append(found, more...), err
}

func findings(ctx context.Context, q db.Querier, statement, company, name string) ([]Finding, error) {
	return db.All(ctx, q, func(s db.Scanner) (Finding, error) {
		f := Finding{Company: company, Check: name}
		return f, s.Scan(&f.ID, &f.Expected, &f.Found)
	}, statement, company)
}

// Companies returns all companies with a row in the database, in order, for `kobo verify`. It
// includes a company whose lock row is missing, and a company of which only evidence is left.
func (s *Service) Companies(ctx context.Context) ([]string, error) {
	return db.All(db.WithLongTimeout(ctx), s.db, db.Value[string], `
		SELECT company_id FROM (
			SELECT company_id FROM ledger_head UNION SELECT company_id FROM company
			UNION SELECT company_id FROM ledger_account UNION SELECT company_id FROM settlement_account
			UNION SELECT company_id FROM operation_case
			UNION SELECT company_id FROM ledger_transfer UNION SELECT company_id FROM event UNION SELECT company_id FROM operator_audit
			UNION SELECT company_id FROM evidence_erased
			UNION SELECT company_id FROM evidence_checkpoint WHERE company_id <> 'deployment'
			UNION SELECT company_id FROM evidence_tree WHERE company_id <> 'deployment'
			UNION SELECT company_id FROM evidence_tile WHERE company_id <> 'deployment') AS c
		WHERE company_id <> '' ORDER BY company_id`)
}
