package db

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Signer makes and checks the MACs of evidence (secret.Evidence).
type Signer interface {
	MAC(content []byte) string
	Verify(content []byte, mac string) bool
}

// SignWith sets the signer of all evidence that this program writes. A program calls it before it
// writes rows.
func (d *DB) SignWith(s Signer) { d.signer = s }

// Signer returns the signer, or nil if SignWith was not called.
func (d *DB) Signer() Signer { return d.signer }

// evidence contains the tables that were declared with Evidence.
var evidence []*Table

// Evidence returns the rule for a table whose rows are evidence. Such rows are never changed. The
// ledger gives each row a number in the column leaf and a MAC in the column mac. The last two
// columns of the table must be leaf and mac.
func Evidence() Rule {
	return func(t *Table) {
		names := t.Names()
		if n := len(names); n < 2 || names[n-2] != "leaf" || names[n-1] != "mac" {
			panic(fmt.Sprintf("db: %s is evidence and does not end with leaf and mac", t.Name))
		}
		t.Evidence = true
		evidence = append(evidence, t)
	}
}

// EvidenceTables returns all tables whose rows are evidence, in the order of their names.
func EvidenceTables() []*Table {
	out := slices.Clone(evidence)
	slices.SortFunc(out, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Content appends the canonical content of a row to a buffer. The row has a value for each column of
// the table, in order. Its MAC and its leaf hash are made of this content.
//
// The content is a list of texts: the name of the table, and then the name and the value of each
// column. A number is in decimal digits. The column mac is left out, and so are columns with "" or 0.
// So a column that a later schema adds does not change the content of earlier rows. The content of a
// row of rights has only the columns that its MAC covers. A packed column (Packing) counts with its text. Each text follows its length in bytes as an
// unsigned varint.
func Content[V any](to []byte, t *Table, row []V) []byte {
	to = frame(to, t.Name)
	if texts, ok := any(row).([]string); ok { // a row that was read page by page, with numbers as texts
		for i, c := range t.Columns {
			if v := texts[i]; v != "" && (c.Type == Text || v != "0") && t.covers(i) {
				to = frame(frame(to, c.Name), t.unpacked(i, v))
			}
		}
		return to
	}
	for i, c := range t.Columns {
		if !t.covers(i) {
			continue
		}
		switch v := any(row[i]).(type) {
		case string:
			if v != "" && (c.Type == Text || v != "0") {
				to = frame(frame(to, c.Name), t.unpacked(i, v))
			}
		case int64:
			if v != 0 {
				var digits [20]byte
				to = frame(frame(to, c.Name), string(strconv.AppendInt(digits[:0], v, 10)))
			}
		default:
			panic(fmt.Sprintf("db: %s.%s holds a %T", t.Name, c.Name, v))
		}
	}
	return to
}

// unpacked returns the text of a column whose value may be packed.
func (t *Table) unpacked(i int, stored string) string {
	if t.Packing == nil || t.Packing.Column != i {
		return stored
	}
	return t.Packing.Unpack(stored)
}

// covers reports whether the MAC of a row covers the column at a position.
func (t *Table) covers(i int) bool {
	return t.Columns[i].Name != "mac" && (t.Rights == nil || t.Rights[i])
}

// frame appends a text after its length.
func frame(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// HasUnsigned reports whether a company has a row of evidence in the table that has no number yet. It reads
// only the first tile of the table.
func HasUnsigned(ctx context.Context, q Querier, t *Table, company string) (bool, error) {
	_, err := One(ctx, q, Value[string], "SELECT company_id FROM "+t.Name+" WHERE company_id = $1 AND leaf / 256 = 0 AND leaf = 0 LIMIT 1", company)
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	return err == nil, err
}
