package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// rights checks the rows of rights of a company: the MAC of each row, and the sum of all MACs. With the
// company "" it checks the operators' keys, and what people sign in with. These have no sum.
type rights struct {
	read    bool  // the rows were checked
	adopted bool  // a signed audit line shows that each row has the right MAC
	n       int64 // the number of rows without the right MAC
	wrong   []Finding
	sum     ledger.Rights
	fits    bool               // the lock row has the sum
	rows    map[string][][]any // with the company "": the rows of each table
}

// add checks the rows. All of them and the sum are from one snapshot.
func (r *rights) add(ctx context.Context, q db.Querier, by db.Signer, company string) (err error) {
	if by == nil {
		return nil
	}
	r.read, r.fits, r.rows = true, true, map[string][][]any{}
	for _, t := range db.RightsTables() {
		if t.OfCompanies() == (company == "") {
			continue
		}
		var content []byte
		err := db.EachRow(ctx, q, t, company, func(page [][]any) error {
			for _, row := range page {
				mac := row[len(row)-1].(string)
				r.sum.Add(mac)
				if content = db.Content(content[:0], t, row); mac == "" || !by.Verify(content, mac) {
					r.unsigned(t, row)
				}
			}
			if !t.OfCompanies() {
				r.rows[t.Name] = append(r.rows[t.Name], page...)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if company != "" {
		r.fits, err = r.sum.Fits(ctx, q, by, company)
	}
	return err
}

func (r *rights) unsigned(t *db.Table, row []any) {
	if r.n++; len(r.wrong) >= most {
		return
	}
	var key []string
	for i := range t.Key {
		if t.Columns[i].Name != "company_id" {
			key = append(key, fmt.Sprint(row[i]))
		}
	}
	company := ""
	if t.OfCompanies() {
		company = row[0].(string)
	}
	r.wrong = append(r.wrong, Finding{company, "rights", strings.TrimSpace(t.Name + " " + strings.Join(key, " ")), "a row with the right MAC", "an altered or added row"})
}

// waiting returns the number of rows that kobo adopt will sign.
func (r *rights) waiting() int64 {
	if r.adopted {
		return 0
	}
	return r.n
}

// findings returns the findings in a company whose rows are all signed. Programs of an earlier schema
// do not sign the rows that they change, so before the adoption a wrong MAC is no finding.
func (r *rights) findings(company string) []Finding {
	switch {
	case !r.adopted || !r.read:
		return nil
	case r.fits:
		return r.wrong
	}
	return append(r.wrong, Finding{company, "rights", "all rows", "the sum of their MACs in ledger_head", "another: a row was deleted, or an earlier one was put back"})
}

// operatorLines are the signed audit lines about operators' keys.
type operatorLines []operatorLine

type operatorLine struct {
	linePlace
	action, name           string
	KeyID, Role, ExpiresAt string
}

// linePlace is where an audit line of no company stands among the others.
type linePlace struct{ leaf, at int64 }

// placeOf reads the place of a row of allLines.
func placeOf(row []string) (p linePlace, err error) {
	return p, db.Numbers([]string{row[7], row[5]}, &p.leaf, &p.at)
}

// compare compares two places. The numbers are the order, because clocks of programs differ. Up to the number
// lastAdopted the instants are, as in operator.AccessAfter.
func (p linePlace) compare(q linePlace, lastAdopted int64) int {
	if p.leaf <= lastAdopted && q.leaf <= lastAdopted {
		return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.leaf, q.leaf))
	}
	return cmp.Compare(p.leaf, q.leaf)
}

// add adds an audit line (allLines), unless it is about something else.
func (l *operatorLines) add(row []string) error {
	if !strings.HasPrefix(row[3], "operator.") {
		return nil
	}
	at, err := placeOf(row)
	line := operatorLine{linePlace: at, action: row[3], name: row[4]}
	err = errors.Join(err, json.Unmarshal([]byte(row[6]), &line))
	*l = append(*l, line)
	return err
}

// findings compares the operators' keys with the audit lines about them. So a row that was put back
// with its earlier MAC is found too.
func (l operatorLines) findings(r *rights) (out []Finding) {
	for _, row := range r.rows["operator_key"] {
		keyID, name, state, role := row[0].(string), row[1].(string), row[3].(string), row[5].(string)
		wrong := func(expected, found string) {
			out = append(out, Finding{"", "operator key", keyID + " of " + name, expected, found})
		}
		issued, now := l.of(keyID, name)
		switch expiry := clock.Text(clock.Time(row[6].(int64))); {
		case issued == nil:
			// without an audit line, kobo dev of an early program issued the key, or its MAC is wrong
		case now == nil && state == "ACTIVE":
			wrong("a revoked key", "one that works")
		case now != nil && now.Role != "" && now.Role != role: // before roles, a line has none
			wrong("the role "+now.Role, role)
		case issued.ExpiresAt == "":
			// a program of an earlier schema issued the key
		case row[6] == int64(0) && issued.ExpiresAt != "never", row[6] != int64(0) && issued.ExpiresAt != expiry:
			wrong("the expiry "+issued.ExpiresAt, expiry)
		}
	}
	return out
}

// of returns the line about the issue of a key, and the last line about its role. The second one is nil
// if the key was revoked.
func (l operatorLines) of(keyID, name string) (issued, now *operatorLine) {
	for i := range l {
		line := &l[i]
		switch {
		case line.action == "operator.key.issue" && line.KeyID == keyID:
			issued, now = line, line
		case line.name != name || now == nil:
		case line.action == "operator.role":
			now = line
		case line.action == "operator.key.revoke":
			now = nil
		}
	}
	return issued, now
}

// rightsChecks compare rights with the audit log. A row that was put back with its earlier MAC
// contradicts a later line.
var rightsChecks = []check{
	{name: "API key", find: `
	SELECT k.id, 'REVOKED, as the audit log says', k.state FROM company_api_key AS k
	WHERE k.company_id = $1 AND k.state = 'ACTIVE' AND EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = k.company_id AND l.subject = k.id AND l.action = 'company.key.revoke')
	ORDER BY k.id` + upTo},
	// Clocks of programs differ, and kobo adopt numbers older lines later. So a line is later if its
	// number or its time is.
	{name: "PIN", find: `
	SELECT 'company_pin', 'LOCKED, as the audit log says', p.state FROM company_pin AS p
	WHERE p.company_id = $1 AND p.state = 'SET' AND EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = p.company_id AND l.subject = p.company_id AND l.action IN ('company.pin.lock', 'company.pin.retire')
			AND NOT EXISTS (SELECT 1 FROM operator_audit AS u WHERE u.company_id = l.company_id AND u.subject = l.subject
				AND u.action IN ('company.pin', 'company.pin.reset', 'company.pin.unlock') AND (u.leaf > l.leaf OR u.created_at >= l.created_at)))` + upTo},
	{name: "token", find: `
	SELECT t.id, 'USED, as the audit log says', t.state FROM company_token AS t
	WHERE t.company_id = $1 AND t.state = 'OPEN' AND EXISTS (SELECT 1 FROM operator_audit AS l
		WHERE l.company_id = t.company_id AND l.action IN ('company.key.claim', 'company.pin.reset') AND strpos(l.details, '"tokenId":"' || t.id || '"') > 0)
	ORDER BY t.id` + upTo},
}
