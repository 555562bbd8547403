package report

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
)

// terms compares what operators have set with the signed lines of the audit log: the payout limits, fees
// and quotas of a company, and API access. These rows have no MAC. Each change of them writes its values
// into an audit line of the same commit. So a row is right if a signed line has its values.
type terms struct {
	lines   map[term]int // how many signed lines there are
	access  []operator.AccessLine
	adopted int64 // the number of the line that ended the adoption of the lines of no company; 0 without one
}

// term is a limit, a fee schedule or a quota, as an audit line or a row has it.
type term struct{ action, subject, at, value, version string }

// add adds a signed audit line, unless it is about something else.
func (t *terms) add(row []string) error {
	one := term{action: row[3], subject: row[4], at: row[5]}
	switch one.action {
	case "payout.limit", "payout.fees", "company.quota":
	case "door.close", "door.open", "evidence.adopt":
		return t.addAccess(row)
	default:
		return nil
	}
	var d struct{ Amount, Payouts, Bands, Most, Version string }
	if err := json.Unmarshal([]byte(row[6]), &d); err != nil {
		return err
	}
	switch one.version = d.Version; one.action {
	case "payout.limit":
		one.value = limitText(d.Amount, d.Payouts)
	case "payout.fees":
		one.value = d.Bands
	case "company.quota":
		one.value = d.Most
	}
	if t.lines == nil {
		t.lines = map[term]int{}
	}
	t.lines[one]++
	return nil
}

// addAccess adds a signed audit line about API access, or the end of an adoption.
func (t *terms) addAccess(row []string) error {
	var leaf, at int64
	if err := db.Numbers([]string{row[7], row[5]}, &leaf, &at); err != nil {
		return err
	}
	if row[3] == "evidence.adopt" {
		if t.adopted == 0 || leaf < t.adopted {
			t.adopted = leaf
		}
		return nil
	}
	var d struct{ Reason, Automatic string }
	err := json.Unmarshal([]byte(row[6]), &d)
	t.access = append(t.access, operator.AccessLine{
		Leaf: leaf, At: clock.Time(at), Closed: row[3] == "door.close", Automatic: d.Automatic != "", Reason: d.Reason,
	})
	return err
}

func limitText(amount, payouts string) string { return amount + " and " + payouts + " payouts" }

// take removes the line of a row, and reports whether there was one. Lines of earlier programs have no
// version.
func (t *terms) take(row term) bool {
	unversioned := row
	unversioned.version = ""
	for _, one := range []term{row, unversioned} {
		if t.lines[one] > 0 {
			t.lines[one]--
			return true
		}
	}
	return false
}

// findings compares the rows with the lines. All of them are from one snapshot.
func (t *terms) findings(ctx context.Context, q db.Querier, company string) (out []Finding, err error) {
	if company == "" {
		return t.accessFindings(ctx, q)
	}
	rows, err := termRows(ctx, q, company)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if !t.take(row) && len(out) < most {
			out = append(out, Finding{company, "terms", row.name(), "a signed audit line that sets " + row.value, "none"})
		}
	}
	left := []term{}
	for one, n := range t.lines {
		if n > 0 {
			left = append(left, one)
		}
	}
	slices.SortFunc(left, func(a, b term) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name(), b.name())) })
	for _, one := range left[:min(len(left), most)] {
		out = append(out, Finding{company, "terms", one.name(), one.value + ", as the audit log says", "no such row"})
	}
	return out, nil
}

func (t term) name() string {
	at, err := strconv.ParseInt(t.at, 10, 64)
	if err != nil {
		return t.action + " " + t.subject
	}
	return t.action + " " + t.subject + " of " + clock.Text(clock.Time(at))
}

// termRows returns the limits, fee schedules and quotas of a company.
func termRows(ctx context.Context, q db.Querier, company string) ([]term, error) {
	var amount money.Kobo
	var payouts string
	limits, err := db.All(ctx, q, func(s db.Scanner) (term, error) {
		t := term{action: "payout.limit"}
		err := s.Scan(&t.subject, &t.at, &t.version, &amount, &payouts)
		t.value = limitText(amount.Decimal(), payouts)
		return t, err
	}, `SELECT CAST(settlement_id AS TEXT), CAST(created_at AS TEXT), version, amount_kobo, CAST(payouts AS TEXT)
		FROM payout_limit WHERE company_id = $1 ORDER BY version`, company)
	if err != nil {
		return nil, err
	}
	quotas, err := db.All(ctx, q, func(s db.Scanner) (term, error) {
		t := term{action: "company.quota"}
		return t, s.Scan(&t.subject, &t.at, &t.version, &t.value)
	}, `SELECT kind, CAST(created_at AS TEXT), version, CAST(most AS TEXT) FROM quota WHERE company_id = $1 ORDER BY version`, company)
	if err != nil {
		return nil, err
	}
	schedules := map[term]payout.Schedule{}
	_, err = db.All(ctx, q, func(s db.Scanner) (b payout.Band, err error) {
		t := term{action: "payout.fees"}
		err = s.Scan(&t.subject, &t.at, &b.From, &b.Flat, &b.BasisPoints, &b.Cap)
		schedules[t] = append(schedules[t], b)
		return b, err
	}, `SELECT version, CAST(created_at AS TEXT), from_kobo, flat_kobo, basis_points, cap_kobo
		FROM payout_fee WHERE company_id = $1 ORDER BY version, from_kobo`, company)
	out := append(limits, quotas...)
	for t, bands := range schedules {
		t.value = payout.Kept(bands).String()
		out = append(out, t)
	}
	return out, err
}

// accessFindings compares the state of API access with the audit lines since it was last open.
func (t *terms) accessFindings(ctx context.Context, q db.Querier) (out []Finding, err error) {
	type row struct {
		Reason    string `db:"reason"`
		Automatic bool   `db:"automatic"`
	}
	rows, err := db.All(ctx, q, db.Fields[row], `SELECT reason, automatic FROM operator_door WHERE id = 1`)
	if err != nil {
		return nil, err
	}
	last := operator.AccessAfter(t.access, cmp.Or(t.adopted, math.MaxInt64))
	wrong := func(expected, found string) {
		out = append(out, Finding{"", "API access", "operator_door", expected, found})
	}
	switch {
	case last.Closed && len(rows) == 0:
		wrong("closed, as the audit log says: "+last.Reason, "open")
	case !last.Closed && len(rows) > 0:
		wrong("open, as the audit log says", "closed: "+rows[0].Reason)
	case last.Closed && rows[0].Reason != last.Reason:
		wrong("the reason "+last.Reason, rows[0].Reason)
	case last.Automatic && !rows[0].Automatic:
		wrong("closed by Kobo itself, so that two operators open it", "closed by an operator")
	}
	return out, nil
}
