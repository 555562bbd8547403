package admin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
)

// write changes the database as somebody does who can write it but has no evidence key.
func (d *door) write(query string, args ...any) {
	d.t.Helper()
	if n, err := d.base.Exec(d.t.Context(), query, args...); err != nil || n == 0 {
		d.t.Fatalf("%s: %d rows, %v", query, n, err)
	}
}

const (
	unrecorded = "No signed line of the audit log records this proposal"
	copied     = `INSERT INTO operator_proposal (id, company, acts, state, proposed_by, decided_by, note, created_at, expires_at, decided_at)
		SELECT 'forged', company, acts, state, 'carl', decided_by, note, created_at, expires_at, decided_at FROM operator_proposal`
)

// A proposal that somebody wrote into the database in the name of another operator is not approved, and
// kobo verify finds it. So are a proposal with other acts or another proposer, and one that had ended.
func TestAForgedProposalIsNotApproved(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		d.as("carl", operator.Admin)
		findings := func(want int) {
			t.Helper()
			v, err := report.New(d.base, d.clock).VerifyLog(t.Context())
			if err != nil || len(v.Findings) != want {
				t.Errorf("%d findings, want %d: %v, %v", len(v.Findings), want, v.Findings, err)
			}
		}
		p := d.propose(d.ada, path+"/api-keys", `{}`)
		findings(0)
		d.write(copied)
		d.no(d.ada, "POST", "/admin/v1/proposals/forged/approve", "", 400, unrecorded)
		findings(1)
		id := strings.TrimPrefix(p, "/admin/v1/proposals/")
		d.write(`UPDATE operator_proposal SET proposed_by = 'carl' WHERE id = $1`, id)
		d.no(d.ada, "POST", p+"/approve", "", 400, unrecorded)
		findings(2)
		d.write(`UPDATE operator_proposal SET proposed_by = 'ada', acts = '[{"operation":"resetPIN"}]' WHERE id = $1`, id)
		d.no(d.bob, "POST", p+"/approve", "", 400, unrecorded)
		findings(2)
		rejected := d.propose(d.ada, path+"/api-keys", `{}`)
		d.clock.Advance(time.Second)
		d.ok(d.bob, "POST", rejected+"/reject", `{}`)
		d.write(`UPDATE operator_proposal SET state = 'PROPOSED' WHERE id = $1`, strings.TrimPrefix(rejected, "/admin/v1/proposals/"))
		d.no(d.bob, "POST", rejected+"/approve", "", 400, "The audit log records that the proposal has ended")
		old := d.propose(d.ada, path+"/api-keys", `{}`)
		d.clock.Advance(24 * time.Hour)
		d.write(`UPDATE operator_proposal SET expires_at = expires_at * 2 WHERE id = $1`, strings.TrimPrefix(old, "/admin/v1/proposals/"))
		d.no(d.bob, "POST", old+"/approve", "", 400, "expired already")
		if n := d.keys(path); n != 1 {
			t.Errorf("%d API keys", n)
		}
	})
}

// An adjustment needs the signed line of its request, and a proposer who still has the role and the name.
func TestAnAdjustmentRestsOnItsProposer(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		path, account := d.company()
		request := func(key string) string {
			a := d.ok(key, "POST", path+"/adjustments", `{"settlementId":`+account+`,"amount":100,"direction":"credit","reason":"a correction"}`)
			return "/admin/v1/adjustments/" + a["id"].(string)
		}
		honest, bySQL, byName := request(d.ada), request(d.ada), request(d.ada)
		id := func(a string) string { return strings.TrimPrefix(a, "/admin/v1/adjustments/") }
		d.as("carl", operator.Finance)
		d.write(`UPDATE settlement_adjustment SET amount_kobo = amount_kobo * 1000 WHERE id = $1`, id(bySQL))
		d.no(d.bob, "POST", bySQL+"/approve", "", 400, unrecorded)
		d.write(`UPDATE settlement_adjustment SET created_by = 'carl' WHERE id = $1`, id(byName))
		d.no(d.ada, "POST", byName+"/approve", "", 400, unrecorded)
		role := func(name string, r operator.Role) {
			t.Helper()
			if _, err := d.operators.SetRole(t.Context(), operator.Local("test"), name, r); err != nil {
				t.Fatal(err)
			}
		}
		role("ada", operator.Support)
		d.no(d.bob, "POST", honest+"/approve", "", 400, "ada is none any more")
		role("ada", operator.Finance)
		d.clock.Advance(time.Second)
		if err := d.operators.RevokeKey(t.Context(), operator.Local("test"), "ada"); err != nil {
			t.Fatal(err)
		}
		d.as("ada", operator.Admin)
		d.no(d.bob, "POST", honest+"/approve", "", 400, "ada is none any more")
		d.ok(d.bob, "POST", honest+"/reject", `{"note":"another person"}`)
	})
}
