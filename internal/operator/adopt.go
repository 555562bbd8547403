package operator

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// These are the actions of the lines that end the adoption of a company's old rows. A company that has a
// signed line with such an action, or that was created by a program that signs, has no unsigned rows.
const (
	adopted       = "evidence.adopt"
	adoptedRights = "rights.adopt"
)

// rightsSigned is in the details of the line about a new company whose rows of rights are all signed
// (ledger.Book.Founding).
const rightsSigned = `"rights":"signed"`

// Adopt signs the rows of a company that programs of earlier schemas wrote: first the rows of evidence
// (ledger.Book.Adopt), and then the rows of rights. After each part it writes an audit line. The company
// may be "". Adopt returns the number of signed rows. It signs no row if the company was adopted before,
// or was created by a program that signs. After EndAdoption it signs no row of evidence. So nobody can get a later row signed.
func (s *Service) Adopt(ctx context.Context, book *ledger.Book, by Operator, company string, signed func(rows int)) (n int, err error) {
	history, rights, err := s.isAdopted(ctx, company)
	if err != nil {
		return 0, err
	}
	count := func(rows int) { n += rows; signed(rows) }
	if !history {
		if err := book.Adopt(ctx, company, count); err != nil {
			return n, err
		}
		if err := s.endAdoption(ctx, book, by, company, adopted, n); err != nil {
			return n, err
		}
	}
	if rights {
		return n, nil
	}
	before := n
	if company == "" {
		var keys int
		keys, err = s.adoptKeys(ctx)
		count(keys)
	} else {
		err = book.AdoptRights(ctx, company, count)
	}
	if err != nil {
		return n, err
	}
	return n, s.endAdoption(ctx, book, by, company, adoptedRights, n-before)
}

// endAdoption writes the line that ends an adoption.
func (s *Service) endAdoption(ctx context.Context, book *ledger.Book, by Operator, company, action string, rows int) error {
	line := by.Note(company, action, company, map[string]string{"rows": strconv.Itoa(rows)}, s.clock.Now())
	if company == "" {
		return s.db.Tx(ctx, func(q db.Querier) error { return s.insertLine(ctx, q, line) })
	}
	u := ledger.For(company)
	u.Append(line)
	return book.Commit(ctx, u)
}

// isAdopted reports whether signed lines of the audit log show that the company has no unsigned rows of
// evidence, and none of rights.
func (s *Service) isAdopted(ctx context.Context, company string) (history, rights bool, err error) {
	lines, err := adoptions(ctx, s.db, company)
	for _, line := range lines {
		if !s.isSignedRecord(line) {
			continue
		}
		history = history || line.Value("action") != adoptedRights
		rights = rights || endsRights(line)
	}
	if err != nil || history || company == "" {
		return history, rights, err
	}
	history, err = s.isWhole(ctx)
	return history, rights, err
}

// endsRights reports whether a line says that no row of rights is unsigned.
func endsRights(line db.Record) bool {
	return line.Value("action") == adoptedRights || strings.Contains(line.Value("details").(string), rightsSigned)
}

// sound returns the keys without those that somebody has altered in the database. Programs of earlier schemas write keys
// without a right MAC, so such a key counts until a signed line ends the adoption. A row without a hash needs its MAC always:
// it is that of an invited operator, which only programs that sign write, or that of a revoked key.
func (s *Service) sound(ctx context.Context, q db.Querier, keys []Key) ([]Key, error) {
	signer := s.db.Signer()
	altered := func(k Key) bool { return !ledger.Signed(signer, keyTable.Table, k.row()) }
	if signer == nil || !slices.ContainsFunc(keys, altered) {
		return keys, nil
	}
	signed, err := s.signsKeys(ctx, q)
	return slices.DeleteFunc(keys, func(k Key) bool { return altered(k) && (signed || k.hash == "") }), err
}

// signsKeys reports whether a signed line says that each operator's key has the right MAC.
func (s *Service) signsKeys(ctx context.Context, q db.Querier) (bool, error) {
	if s.keysSigned.Load() {
		return true, nil
	}
	lines, err := adoptions(ctx, q, "")
	if slices.ContainsFunc(lines, func(line db.Record) bool { return endsRights(line) && s.isSignedRecord(line) }) {
		s.keysSigned.Store(true) // for good, also if somebody deletes the line
	}
	return s.keysSigned.Load(), err
}
