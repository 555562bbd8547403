package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	months "github.com/kobo-waas/kobo/internal/archive"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/erasure"
	trees "github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// evidence checks the rows of evidence of one company: the MAC of each row, and that the numbers of
// the rows have no gap. A row with a wrong MAC was altered or added without the evidence key. A gap
// shows a deleted row.
type evidence struct {
	company string
	signer  db.Signer // nil if the program has no evidence key; then nothing is checked
	tables  map[string]*db.Table
	head    int64 // the last number according to the company lock row
	content []byte
	tally   *trees.Tally // all rows with a number, for the check of the tree

	kept     map[int64]string // the hashes of erased rows, by number
	recorded map[int64]bool   // the numbers of erased rows, according to signed audit lines

	numbers  numberSet
	altered  map[int64]bool // the numbers in rows with a wrong MAC
	unsigned []string       // the first rows without a number and a MAC
	waiting  int64          // how many there are
	adopted  bool           // a signed audit line, of the company or of all, shows that no row may be unsigned
	findings []Finding

	rights            rights
	terms             terms
	operators         operatorLines           // only for the audit log of no company
	people            personLines             // the same
	proposals         map[string]proposalLine // what signed lines record about proposals, by their ids
	unsignedProposals []proposalLine
}

func newEvidence(signer db.Signer, company string) *evidence {
	e := &evidence{
		company: company, signer: signer, tables: map[string]*db.Table{}, altered: map[int64]bool{}, recorded: map[int64]bool{}, tally: trees.NewTally(0),
	}
	for _, t := range db.EvidenceTables() {
		e.tables[t.Name] = t
	}
	return e
}

// begin reads the last number of the company and its erased rows. All rows are then checked in the same
// snapshot.
func (e *evidence) begin(ctx context.Context, q db.Querier) (err error) {
	e.head, err = ledger.Leaves(ctx, q, e.company)
	e.tally = trees.NewTally(e.head)
	if err == nil {
		err = e.readAdoption(ctx, q)
	}
	if err == nil {
		e.kept, err = trees.Erased(ctx, q, e.company, 1, math.MaxInt64)
	}
	return err
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
	if e.kept[leaf] != "" && e.kept[leaf] == trees.LeafHash(t, row) {
		e.wrong(e.name(t, row), "the row without the erased person", "the row as it was before")
	}
	e.tally.Add(leaf, mac, e.content)
	return true
}

// name names a row by its table and its key.
func (*evidence) name(t *db.Table, row []string) string {
	return strings.TrimSpace(t.Name + " " + strings.Join(row[1:t.Key], " "))
}

// event checks an event.
func (e *evidence) event(row []string) { e.row(e.tables["event"], row) }

// allLines selects all columns of the audit lines, in the order of their table.
const allLines = `SELECT company_id, id, operator, action, subject, created_at, details, leaf, mac
	FROM operator_audit WHERE company_id = $1 AND id >= $2 ORDER BY id`

// addLines checks the audit lines of the company. If all of them are signed, it also compares them with
// what operators have set.
func (e *evidence) addLines(ctx context.Context, q db.Querier) error {
	last := ""
	err := db.Pages(ctx, q, allLines, 9, func() []any { return []any{e.company, last} }, func(row []string) error {
		last = row[1]
		signed, action, details := e.row(e.tables["operator_audit"], row), row[3], row[6]
		if action == "proposal.create" {
			if err := e.addProposal(row, signed); err != nil {
				return err
			}
		}
		if !signed {
			return nil
		}
		if action == erasure.Cleared {
			return e.record(details)
		}
		if err := e.terms.add(row); err != nil {
			return err
		}
		e.adopted = e.adopted || action == "company.create" || action == "evidence.adopt"
		e.rights.adopted = e.rights.adopted || action == "rights.adopt" ||
			(action == "company.create" || action == "evidence.adopt") && strings.Contains(details, `"rights":"signed"`)
		if e.company == "" {
			return errors.Join(e.operators.add(row), e.people.add(row))
		}
		return nil
	})
	e.compareErased()
	if err != nil || !e.adopted {
		return err
	}
	found, err := e.terms.findings(ctx, q, e.company)
	e.findings = append(e.findings, found...)
	return err
}

// record notes the erased rows that an audit line names in its details.
func (e *evidence) record(details string) error {
	said := map[string]string{}
	if err := json.Unmarshal([]byte(details), &said); err != nil {
		return err
	}
	for number := range strings.SplitSeq(said[erasure.Leaves], ",") {
		leaf, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		e.recorded[leaf] = true
	}
	return nil
}

// compareErased compares the erased rows with those that the audit lines name.
func (e *evidence) compareErased() {
	if e.signer == nil {
		return
	}
	for _, leaf := range slices.Sorted(maps.Keys(e.kept)) {
		if !e.recorded[leaf] {
			e.wrong(fmt.Sprintf("number %d", leaf), "an audit line about the erasure", "none")
		}
	}
	for _, leaf := range slices.Sorted(maps.Keys(e.recorded)) {
		if e.kept[leaf] == "" {
			e.wrong(fmt.Sprintf("number %d", leaf), "the kept hash of an erased row", "none")
		}
	}
}

// addArchived adds the numbers of the events that kobo archive has moved into files.
func (e *evidence) addArchived(ctx context.Context, q db.Querier) error {
	if e.signer == nil {
		return nil
	}
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

// join adds what was found in a second snapshot of the company, which was taken at a slightly
// different instant. Both snapshots have all rows up to the lower one of their last numbers.
func (e *evidence) join(f *evidence) *evidence {
	for _, n := range e.numbers.union(&f.numbers) {
		e.wrong("number "+strconv.FormatInt(n, 10), "one row", "two")
	}
	maps.Copy(e.altered, f.altered)
	e.tally.Join(f.tally)
	e.head, e.waiting, e.adopted = min(e.head, f.head), e.waiting+f.waiting, e.adopted || f.adopted
	e.unsigned, e.findings = append(e.unsigned, f.unsigned...), append(e.findings, f.findings...)
	adopted := e.rights.adopted || f.rights.adopted
	if f.rights.read {
		e.rights = f.rights
	}
	e.rights.adopted = adopted
	return e
}

// conclude reports the gaps in the numbers. It also reports the unsigned rows, if the company was
// adopted.
func (e *evidence) conclude() {
	if e.signer == nil {
		return
	}
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
	e.waiting += e.rights.waiting()
	e.findings = append(e.findings, e.rights.findings(e.company)...)
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

// union adds the numbers of another set, and returns those that both sets contain.
func (s *numberSet) union(other *numberSet) (both []int64) {
	if missing := len(other.bits) - len(s.bits); missing > 0 {
		s.bits = append(s.bits, make([]uint64, missing)...)
	}
	for i, word := range other.bits {
		for common := word & s.bits[i]; common != 0; common &= common - 1 {
			both = append(both, int64(i)*64+int64(bits.TrailingZeros64(common)))
		}
		s.bits[i] |= word
	}
	return both
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

// VerifyLog checks the audit lines of no company: their MACs and their numbers. It also checks the
// operators' keys, and that signed lines record the proposals of operators. Transfers and events of no
// company are findings, because Kobo writes none.
func (s *Service) VerifyLog(ctx context.Context) (v Verification, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		v, err = VerifyLog(ctx, q, s.db.Signer())
		return err
	})
	return v, err
}

// VerifyLog checks the same as Service.VerifyLog. All reads use one querier.
func VerifyLog(ctx context.Context, q db.Querier, signer db.Signer) (v Verification, err error) {
	e := newEvidence(signer, "")
	if err := e.begin(ctx, q); err != nil {
		return v, err
	}
	ctx = db.WithLongTimeout(ctx)
	err = errors.Join(e.addLines(ctx, q), e.addStray(ctx, q), e.rights.add(ctx, q, signer, ""))
	if err == nil {
		err = e.checkProposals(ctx, q)
	}
	return v.with(e.ofPeople(), e), err
}

// ofPeople compares the keys of operators, the people of companies and what they sign in with with the audit lines
// about them, in the order of these lines.
func (e *evidence) ofPeople() []Finding {
	last := cmp.Or(e.terms.adopted, math.MaxInt64)
	slices.SortFunc(e.operators, func(a, b operatorLine) int { return a.compare(b.linePlace, last) })
	slices.SortFunc(e.people, func(a, b personLine) int { return a.compare(b.linePlace, last) })
	return append(e.operators.findings(&e.rights), e.people.findings(&e.rights)...)
}
