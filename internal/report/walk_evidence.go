package report

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// genuine returns a check of the MACs of a table's rows, or nil if the program has no evidence key. An
// unsigned row counts as genuine until its company is adopted.
func (w *walk) genuine(signer db.Signer, t *db.Table) ledger.Genuine {
	if signer == nil {
		return nil
	}
	var content []byte
	return func(row []string) bool {
		leaf, mac := row[len(row)-2], row[len(row)-1]
		if leaf == "0" && mac == "" {
			return !w.Adopted
		}
		content = db.Content(content[:0], t, row)
		return signer.Verify(content, mac)
	}
}

// altered adds a finding about an event or an audit line, which belongs to no account.
func (w *walk) altered(t *db.Table, row []string) {
	name := strings.TrimSpace(t.Name + " " + strings.Join(row[1:t.Key], " "))
	const text = "%s was altered or added: its MAC is wrong"
	w.wrong(text, name)
	b := Integrity{Company: w.Ledger.Company}
	b.wrong(text, name)
	w.Ledger.Breaks = append(w.Ledger.Breaks, ledger.NewBreak("", name, strings.Join(row, "\x00"), b.Wrongs[0]))
}

// handOver passes the breaks that were found to the function broken, which stores them.
func (w *walk) handOver(ctx context.Context, broken func(context.Context, string, []ledger.Break) ([]string, error)) error {
	if broken == nil || len(w.Ledger.Breaks) == 0 {
		w.Ledger.Breaks = nil
		return nil
	}
	accepted, err := broken(ctx, w.Ledger.Company, w.Ledger.Breaks)
	if err == nil {
		w.Accepted, w.Ledger.Breaks = append(w.Accepted, accepted...), nil
	}
	return err
}

// adoptions selects the audit lines that show that a company has no unsigned rows.
const adoptions = `SELECT company_id, id, operator, action, subject, created_at, details, leaf, mac FROM operator_audit
	WHERE company_id = $1 AND id >= $2 AND action IN ('company.create', 'evidence.adopt') ORDER BY id`

// adopted reports whether a signed audit line, of the company or of all companies, shows that the company
// has no unsigned rows.
func adopted(ctx context.Context, d *db.DB, company string) (is bool, err error) {
	w, last := walk{Adopted: true}, ""
	genuine := w.genuine(d.Signer(), evidenceTable("operator_audit"))
	err = db.Pages(ctx, d, adoptions, 9, func() []any { return []any{company, last} }, func(row []string) error {
		last = row[1]
		is = is || genuine != nil && genuine(row) && row[len(row)-1] != ""
		return nil
	})
	if err != nil || is {
		return is, err
	}
	e := newEvidence(d.Signer(), company)
	err = e.readAdoption(ctx, d)
	return e.adopted, err
}

func evidenceTable(name string) *db.Table {
	for _, t := range db.EvidenceTables() {
		if t.Name == name {
			return t
		}
	}
	panic("report: no table of evidence: " + name)
}

// checkLines checks the MACs of the audit lines. It reports whether it has read all of them before more
// returned false.
func (w *walk) checkLines(ctx context.Context, d *db.DB, more func() bool) (bool, error) {
	lines := evidenceTable("operator_audit")
	genuine := w.genuine(d.Signer(), lines)
	if genuine == nil {
		return true, nil
	}
	enough := false
	err := db.Pages(ctx, d, allLines, 9, func() []any { return []any{w.Ledger.Company, w.Line} }, func(row []string) error {
		if enough = !more(); enough {
			return errTooMuch
		}
		if w.Line = row[1]; !genuine(row) {
			w.altered(lines, row)
		}
		return nil
	})
	if enough {
		return false, nil
	}
	return err == nil, err
}

// eventsTo selects all columns of the events from one number to another, in the order of their table.
const eventsTo = `SELECT company_id, sequence, id, kind, data, created_at, leaf, mac
	FROM event WHERE company_id = $1 AND sequence >= $2 AND sequence <= $3 ORDER BY sequence`

// checkEvents checks the MACs of the events with these numbers, and returns how many there are.
func (w *walk) checkEvents(ctx context.Context, d *db.DB, from, to int64) (n int64, err error) {
	events := evidenceTable("event")
	genuine, last := w.genuine(d.Signer(), events), from
	err = db.Pages(ctx, d, eventsTo, 8, func() []any { return []any{w.Ledger.Company, last, to} }, func(row []string) error {
		if n++; genuine != nil && !genuine(row) {
			w.altered(events, row)
		}
		return db.Numbers(row[1:], &last)
	})
	return n, err
}
