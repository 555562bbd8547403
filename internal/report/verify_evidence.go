package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	months "github.com/kobo-waas/kobo/internal/archive"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// evidence checks the rows of evidence of one company: the MAC of each row, and that the numbers of
// the rows have no gap. A row with a wrong MAC was altered or added without the evidence key. A gap
// shows a deleted row.
type evidence struct {
	company string
	signer  db.Signer
	head    int64 // the last number according to the company lock row
	content []byte

	numbers  numberSet
	altered  map[int64]bool // the numbers in rows with a wrong MAC
	unsigned []string       // the first rows without a number and a MAC
	waiting  int64          // how many there are
	adopted  bool           // a signed audit line shows that no row may be unsigned
	findings []Finding
}

func newEvidence(ctx context.Context, q db.Querier, signer db.Signer, company string) (*evidence, error) {
	head, err := ledger.Leaves(ctx, q, company)
	return &evidence{company: company, signer: signer, head: head, altered: map[int64]bool{}}, err
}

func (e *evidence) wrong(id, expected, found string) {
	if len(e.findings) < most {
		e.findings = append(e.findings, Finding{e.company, "evidence", id, expected, found})
	}
}

// row checks one row, and reports whether it is signed. Without a signer it checks nothing.
func (e *evidence) row(t *db.Table, row []string) (signed bool) {
	if e.signer == nil {
		return false
	}
	number, mac := row[len(row)-2], row[len(row)-1]
	if number == "0" && mac == "" {
		if e.waiting++; len(e.unsigned) < most {
			e.unsigned = append(e.unsigned, e.name(t, row))
		}
		return false
	}
	leaf, err := strconv.ParseInt(number, 10, 64)
	e.content = db.Content(e.content[:0], t, row)
	switch {
	case err != nil || !e.signer.Verify(e.content, mac):
		if e.wrong(e.name(t, row), "a row with the right MAC", "an altered or added row"); len(e.altered) < most {
			e.altered[leaf] = true
		}
		return false
	case leaf < 1 || leaf > e.head:
		e.wrong(e.name(t, row), fmt.Sprintf("a number from 1 to %d", e.head), number)
	case !e.numbers.add(leaf):
		e.wrong(e.name(t, row), "a number of its own", number)
	}
	return true
}

// name names a row by its table and its key.
func (*evidence) name(t *db.Table, row []string) string {
	return strings.TrimSpace(t.Name + " " + strings.Join(row[1:t.Key], " "))
}

// The events and the audit lines are read page by page, in the order of their primary keys, with all
// columns of their tables.
const (
	signedEvents = `SELECT company_id, sequence, id, kind, data, created_at, leaf, mac
		FROM event WHERE company_id = $1 AND sequence >= $2 ORDER BY sequence`
	signedLines = `SELECT company_id, id, operator, action, subject, created_at, details, leaf, mac
		FROM operator_audit WHERE company_id = $1 AND id >= $2 ORDER BY id`
)

// addRest checks the events and the audit lines of the company, and then the numbers of all rows. The
// transfers must have been checked before.
func (e *evidence) addRest(ctx context.Context, q db.Querier) error {
	tables := map[string]*db.Table{}
	for _, t := range db.EvidenceTables() {
		tables[t.Name] = t
	}
	last := int64(0)
	err := db.Pages(ctx, q, signedEvents, 8, func() []any { return []any{e.company, last} }, func(row []string) error {
		e.row(tables["event"], row)
		return db.Numbers(row[1:], &last)
	})
	if err != nil {
		return err
	}
	line := ""
	err = db.Pages(ctx, q, signedLines, 9, func() []any { return []any{e.company, line} }, func(row []string) error {
		line = row[1]
		if e.row(tables["operator_audit"], row) && (row[3] == "company.create" || row[3] == "evidence.adopt") {
			e.adopted = true
		}
		return nil
	})
	if err == nil {
		err = e.addArchived(ctx, q)
	}
	e.conclude()
	return err
}

// addArchived adds the numbers of the events that kobo archive has moved into files.
func (e *evidence) addArchived(ctx context.Context, q db.Querier) error {
	list, err := months.Months(ctx, q, e.company)
	for _, m := range list {
		if m.Leaves == "" {
			continue // archived before its events were signed
		}
		ranges, parsed := m.Ranges()
		if parsed != nil || !e.signer.Verify(m.Content(), m.MAC) {
			e.wrong("archive_month "+m.Name, "a month with the right MAC", "an altered or added month")
			continue
		}
		for _, r := range ranges {
			for leaf := r.First; leaf <= r.Last; leaf++ {
				e.numbers.add(leaf) // an event that is not removed yet has added it already
			}
		}
	}
	return err
}

// conclude reports the gaps in the numbers. It also reports the unsigned rows, if the company was
// adopted.
func (e *evidence) conclude() {
	for _, gap := range e.numbers.gaps(e.head, most) {
		if gap.First == gap.Last && e.altered[gap.First] {
			continue
		}
		e.wrong(fmt.Sprintf("number %d to %d", gap.First, gap.Last), "a row with each number", "none: a row was deleted")
	}
	if e.adopted {
		for _, name := range e.unsigned {
			e.wrong(name, "a row with a number and a MAC", "neither")
		}
		e.waiting = 0
	}
}

// numberSet is a set of numbers from 1 on, with a bit for each number.
type numberSet struct{ bits []uint64 }

// add adds a number. It returns false if the set contains the number already.
func (s *numberSet) add(n int64) bool {
	at, bit := n/64, uint64(1)<<(n%64)
	if missing := int(at) + 1 - len(s.bits); missing > 0 {
		s.bits = append(s.bits, make([]uint64, missing)...)
	}
	is := s.bits[at]&bit != 0
	s.bits[at] |= bit
	return !is
}

// gaps returns the ranges from 1 to last that are not in the set, at most limit ranges.
func (s *numberSet) gaps(last int64, limit int) (out []months.Range) {
	known := min(last, int64(len(s.bits))*64-1)
	for n := int64(1); n <= known && len(out) < limit; n++ {
		if s.bits[n/64] == ^uint64(0) {
			n |= 63
			continue
		}
		if s.bits[n/64]&(1<<(n%64)) != 0 {
			continue
		}
		if i := len(out) - 1; i >= 0 && out[i].Last == n-1 {
			out[i].Last = n
		} else {
			out = append(out, months.Range{First: n, Last: n})
		}
	}
	if rest := max(known, 0) + 1; rest <= last && len(out) < limit {
		if i := len(out) - 1; i >= 0 && out[i].Last == rest-1 {
			out[i].Last = last
		} else {
			out = append(out, months.Range{First: rest, Last: last})
		}
	}
	return out
}

// VerifyLog checks the audit lines of no company: their MACs and their numbers.
func (s *Service) VerifyLog(ctx context.Context) (v Verification, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		e, err := newEvidence(ctx, q, s.db.Signer(), "")
		if err != nil {
			return err
		}
		return v.addEvidence(db.WithLongTimeout(ctx), q, e)
	})
	return v, err
}

// addEvidence checks the events and the audit lines, and adds all findings about evidence.
func (v *Verification) addEvidence(ctx context.Context, q db.Querier, e *evidence) error {
	if v.Unchecked = e.signer == nil; v.Unchecked {
		return nil
	}
	err := e.addRest(ctx, q)
	v.Findings, v.Unsigned = append(v.Findings, e.findings...), e.waiting
	return err
}
