package admin_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// A proposal says before its approval that it would be refused, with the value then and the value now. A dead one keeps the
// value at its death.
func TestAProposalShowsWhatItRestsOnNow(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		d.ok(d.ada, "POST", path+"/payout-limits", `{"amount":100,"payouts":3}`)
		p := d.propose(d.ada, path+"/payout-limits", `{"amount":200,"payouts":3}`)
		says := func(who, state, now, outdated string) {
			t.Helper()
			is := d.ok(who, "GET", p, "")
			act := is["acts"].([]any)[0].(map[string]any)
			text := func(of any) string { s, _ := of.(string); return s }
			if is["state"] != state || text(act["now"]) != now || text(is["outdated"]) != outdated {
				t.Errorf("%v", is)
			}
		}
		viewer := d.as("vera", operator.Viewer)
		says(viewer, "PROPOSED", "", "")
		d.ok(d.bob, "POST", path+"/payout-limits", `{"amount":90,"payouts":3}`)
		says(viewer, "PROPOSED", "90.00, 3 payouts", "limit/0 was 100.00, 3 payouts, and is 90.00, 3 payouts")
		d.no(d.bob, "POST", p+"/approve", "", 400, "limit/0 was 100.00")
		d.ok(d.bob, "POST", path+"/payout-limits", `{"amount":80,"payouts":3}`)
		says(viewer, "DEAD", "90.00, 3 payouts", "")

		p = d.propose(d.ada, path+"/payout-limits", `{"amount":200,"payouts":3}`)
		if _, err := d.operators.SetRole(t.Context(), operator.Local("test"), "ada", operator.Support); err != nil {
			t.Fatal(err)
		}
		if is := d.ok(d.bob, "GET", p, ""); !strings.Contains(is["outdated"].(string), "ada has the role support") {
			t.Errorf("%v", is)
		}
	})
}
