package ledger

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// Rights is the sum of the MACs of a company's rows of rights (db.Rights). The company's lock row
// holds the sum with a MAC. The sum is wrong if such a row was deleted, or if an earlier row was put
// back with its earlier MAC.
type Rights struct{ high, low uint64 }

// Add adds the MAC of a row. A row without a MAC counts as zero.
func (r *Rights) Add(mac string) {
	high, low := halves(mac)
	r.high, r.low = r.high+high, r.low+low
}

func (r *Rights) remove(mac string) {
	high, low := halves(mac)
	r.high, r.low = r.high-high, r.low-low
}

func halves(mac string) (high, low uint64) {
	b, err := base64.RawURLEncoding.DecodeString(mac)
	if err != nil || len(b) != 16 {
		return 0, 0
	}
	return binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
}

// sumLength is the length of a sum in hexadecimal digits. The MAC of the sum follows them.
const sumLength = 32

// openRights returns the sum in the text of a lock row, and reports whether its MAC is right. A company
// without signed rows has the text "".
func openRights(by db.Signer, company, text string) (r Rights, sound bool) {
	if text == "" {
		return r, true
	}
	b, err := hex.DecodeString(text[:min(len(text), sumLength)])
	if err != nil || len(b) != sumLength/2 {
		return r, false
	}
	r = Rights{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	return r, by.Verify(r.content(company), text[sumLength:])
}

// content returns what the MAC of the sum covers.
func (r Rights) content(company string) []byte {
	return fmt.Appendf(nil, "the rights of %s: %016x%016x", company, r.high, r.low)
}

// Fits reports whether the company's lock row has this sum, with the right MAC.
func (r Rights) Fits(ctx context.Context, q db.Querier, by db.Signer, company string) (bool, error) {
	text, err := db.OrZero(db.One(ctx, q, db.Value[string], `SELECT rights FROM ledger_head WHERE company_id = $1`, company))
	sum, sound := openRights(by, company, text)
	return sound && sum == r, err
}

// signsRights is the first schema whose programs sign rows of rights.
const signsRights = 64

// Founding returns details for the audit line of a company's very first unit. They state that all rows
// of rights of the company are signed, unless an older program runs. Such a program would change rows
// without signing them, and kobo adopt signs these rows later.
func (b *Book) Founding(ctx context.Context) (map[string]string, error) {
	older, err := b.db.Beside(ctx, signsRights)
	if older || err != nil {
		return map[string]string{}, err
	}
	return map[string]string{"rights": "signed"}, nil
}

// rightsOf is the sum of a company in a batch.
type rightsOf struct {
	text           string // as the lock row had it
	sum            Rights
	sound, changed bool
}

// replace replaces the MAC of a row in the sum.
func (r *rightsOf) replace(by db.Signer, company, old, mac string) {
	if !r.changed {
		r.sum, r.sound = openRights(by, company, r.text)
		r.changed = true
	}
	r.sum.remove(old)
	r.sum.Add(mac)
}

// sealed returns the text for the lock row. A sum whose MAC was wrong stays wrong.
func (r *rightsOf) sealed(by db.Signer, company string) string {
	switch {
	case !r.changed:
		return r.text
	case !r.sound:
		return fmt.Sprintf("%016x%016x!", r.sum.high, r.sum.low)
	}
	return fmt.Sprintf("%016x%016x%s", r.sum.high, r.sum.low, by.MAC(r.sum.content(company)))
}

// grant signs a new row of rights, and returns the MAC, which is also the last value of the row.
func (d *decision) grant(t *db.Table, row []any) (mac string) {
	d.content = db.Content(d.content[:0], t, row)
	mac = d.signer.MAC(d.content)
	row[len(row)-1] = mac
	d.weigh(row[0].(string), "", mac)
	return mac
}

// renew signs a changed row of rights again, and returns the MAC.
func (d *decision) renew(t *db.Table, before, after []any) (mac string) {
	old := before[len(before)-1].(string)
	mac, d.content = db.Renew(d.signer, t, before, after, d.content)
	d.weigh(before[0].(string), old, mac)
	return mac
}

// weigh replaces the MAC of a row in the sum of its company.
func (d *decision) weigh(company, old, mac string) {
	if old != mac {
		l := d.locks[company]
		l.rights.replace(d.signer, company, old, mac)
		l.changed = true
	}
}

// signRights signs the new accounts, those that are closed or opened to debits, and the new and changed
// counters of the batch.
func (d *decision) signRights() {
	for k, a := range d.accounts {
		switch {
		case a.opened:
			a.mac = d.grant(accountTable, a.row(k, 0, a.closedAt, ""))
		case a.marked:
			a.mac = d.renew(accountTable, a.row(k, 0, a.closedBefore, a.mac), a.row(k, 0, a.closedAt, ""))
		}
	}
	for k, c := range d.counters {
		switch {
		case c.value == c.before:
		case c.found:
			c.mac = d.renew(counterTable, []any{k.company, k.name, c.before, c.mac}, []any{k.company, k.name, c.value, nil})
		default:
			c.mac = d.grant(counterTable, []any{k.company, k.name, c.value, nil})
		}
	}
}

// change returns the covered values of a row of rights before and after a transition.
func (s *guardSet) change(m *Transition) (t *db.Table, before, after []any) {
	t = s.table
	row := s.rows[m.row]
	before = make([]any, len(t.Columns))
	copy(before, m.key)
	for i, name := range s.expected {
		before[t.Index(name)] = row.held[i]
	}
	before[t.Index(t.State)] = row.state
	after = slices.Clone(before)
	after[t.Index(t.State)] = m.to
	for _, c := range m.set {
		after[t.Index(c.column)] = c.value
	}
	return t, before, after
}
