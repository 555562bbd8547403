package operation

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Labels are the company's own reference and further data of an operation. Kobo only stores and
// returns them, and finds operations by them.
type Labels struct {
	ExternalReference string   `db:"external_reference" json:"externalReference,omitempty"` // unique in the company and kind; "" for none
	Metadata          Metadata `db:"metadata" json:"metadata,omitempty"`
}

// Metadata is a JSON object whose values are strings. It is "" instead of an empty object.
type Metadata string

// MarshalJSON returns the object.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("null"), nil
	}
	return []byte(m), nil
}

// UnmarshalJSON reads an object, and stores it with sorted keys and without white space.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	var object map[string]string
	if err := json.Unmarshal(text, &object); err != nil || len(object) == 0 {
		*m = ""
		return err
	}
	plain, err := json.Marshal(object)
	*m = Metadata(plain)
	return err
}

// ErrReferenceUsed reports that an earlier operation of this kind has the same externalReference.
var ErrReferenceUsed = fault.New(fault.Refused, `"externalReference" was already used`).With(fault.ReferenceUsed)

// IsReferenceUsed reports whether the ledger refused a unit because of its externalReference.
func IsReferenceUsed(err error) bool { return ledger.Is(err, ledger.Exists, labels.Table) }

// label is the row of an operation's labels. An operation without labels has no such row.
type label struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"` // the ID of the operation, or of the credit that pays a collection
	Kind    string `db:"kind"`
	Labels
	CreatedAt time.Time `db:"created_at"`
}

// mark is a row by which an operation is found. The row stands for one key of the metadata, or for
// the externalReference.
type mark struct {
	Company string `db:"company_id,key"`
	Mark    string `db:"mark,key"` // a digest of the kind, the key and the value
	Subject string `db:"subject,key"`
}

// Mark returns the text that stands for a key of the metadata and its value, in operations of one
// kind. The key "" stands for the externalReference. The text is short, so an index can contain it.
func Mark(kind, key, value string) string {
	h := sha256.New()
	for _, part := range []string{kind, key, value} {
		fmt.Fprintf(h, "%d:%s,", len(part), part) // the lengths make the boundaries between the parts unambiguous
	}
	return letters.EncodeToString(h.Sum(nil))
}

// write adds the labels of a new operation to its unit. It adds nothing if there are no labels.
func (l Labels) write(u *ledger.Unit, o Operation) {
	if l == (Labels{}) {
		return
	}
	u.Insert(labels.Record(label{o.Company, o.ID, o.Kind, l, o.CreatedAt}))
	if l.ExternalReference != "" {
		u.Append(marks.Record(mark{o.Company, Mark(o.Kind, "", l.ExternalReference), o.ID}))
	}
	l.Metadata.Index(u, o.Kind, o.ID)
}

// Show adds to the unit of a credit the labels that the ledger's entry of the credit shows.
func (l Labels) Show(u *ledger.Unit, kind, creditID string, at time.Time) {
	u.Append(labels.Record(label{u.Company, creditID, kind, l, at}))
}

// Index adds to a unit the rows by which a subject is found. The subject is an operation, or
// a different object with metadata.
func (m Metadata) Index(u *ledger.Unit, kind, subject string) {
	var object map[string]string
	if m == "" || json.Unmarshal([]byte(m), &object) != nil {
		return
	}
	for key, value := range object {
		u.Append(marks.Record(mark{u.Company, Mark(kind, key, value), subject}))
	}
}

// LabelColumns and LabelJoin are for SQL statements that read operations with their labels.
const (
	LabelColumns = `coalesce(label.external_reference, ''), coalesce(label.metadata, '')`
	LabelJoin    = ` LEFT JOIN operation_label AS label ON label.company_id = operation.company_id AND label.id = operation.id `
)

// Targets returns pointers to the fields of l, in the order of LabelColumns.
func (l *Labels) Targets() []any { return []any{&l.ExternalReference, (*string)(&l.Metadata)} }

// scanLabelled returns the operation in a row of Columns and LabelColumns.
func scanLabelled(sc db.Scanner) (Operation, error) {
	var o Operation
	err := sc.Scan(append(o.Targets(), o.Labels.Targets()...)...)
	return o, err
}
