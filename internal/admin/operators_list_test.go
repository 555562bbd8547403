package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// newest adds the newest company, proposal and adjustment.
func (d *door) newest(name, account string) {
	d.t.Helper()
	made, _, err := d.companies.Create(d.t.Context(), operator.Local("test"), name)
	if err != nil {
		d.t.Fatal(err)
	}
	ada, err := d.operators.Find(d.t.Context(), "ada")
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err = d.operators.Propose(d.t.Context(), ada, made.Reference, []operator.Act{{Operation: "setLive", Body: []byte(`{"live":true}`)}}); err != nil {
		d.t.Fatal(err)
	}
	company, number, _ := strings.Cut(account, "/")
	var id int64
	if _, err = fmt.Sscan(number, &id); err == nil {
		_, err = d.settlements.Adjust(d.t.Context(), ada, settlement.Adjustment{
			Company: company, SettlementID: id, Amount: money.Kobo(5), Direction: settlement.DirectionCredit, Reason: name,
		})
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// plantDesk plants eleven rows more of each list at the operators' desk. The states of the rows follow one another. It returns
// the company and the settlement account of the adjustments.
func (d *door) plantDesk() (account string) {
	d.t.Helper()
	path, id := d.company()
	account = strings.TrimPrefix(path, "/admin/v1/companies/") + "/" + id
	for i := range 11 {
		if i%3 != 1 {
			d.clock.Advance(time.Second) // some have the same instant
		}
		d.newest(fmt.Sprint("Company ", i), account)
	}
	oldest := func(table string) string {
		return `(SELECT id FROM ` + table + ` WHERE state = $1 ORDER BY id LIMIT 1)`
	}
	for _, state := range []string{"REJECTED", "WITHDRAWN", "DEAD", "APPROVED", "APPROVED"} {
		d.write(`UPDATE operator_proposal SET state = $2, decided_at = 1 WHERE id = `+oldest("operator_proposal"), "PROPOSED", state)
	}
	d.write(`INSERT INTO operator_act (company_id, proposal_id, position, done_at, acts) SELECT company, id, 0, 1, 0 FROM operator_proposal
		WHERE id = `+oldest("operator_proposal"), "APPROVED")
	for range 2 {
		d.write(`UPDATE operator_proposal SET expires_at = $2 WHERE id = (SELECT id FROM operator_proposal WHERE state = $1 AND expires_at > $2 ORDER BY id LIMIT 1)`,
			"PROPOSED", clock.Micros(d.clock.Now()))
	}
	d.write(`UPDATE settlement_adjustment SET state = 'REJECTED', decided_by = 'bob' WHERE id = `+oldest("settlement_adjustment"), "PENDING")
	d.write(`UPDATE settlement_adjustment SET state = 'APPROVED', decided_by = 'bob' WHERE id = `+oldest("settlement_adjustment"), "PENDING")
	return account
}

// deskLists are the lists at the operators' desk with their filters, and how many rows each has.
var deskLists = map[string]int{
	"companies?": 12, "payout-fees?": 12,
	"proposals?": 11, "proposals?status=PROPOSED": 5, "proposals?status=UNFINISHED": 1, "proposals?status=APPROVED": 1, "proposals?status=REJECTED": 1,
	"proposals?status=WITHDRAWN": 1, "proposals?status=EXPIRED": 2, "proposals?status=DEAD": 1,
	"adjustments?status=": 11, "adjustments?status=PENDING": 9, "adjustments?status=REJECTED": 1, "adjustments?status=APPROVED": 1,
}

// growing are those of them that have the rows that arrive.
var growing = []string{"companies?", "payout-fees?", "proposals?", "proposals?status=PROPOSED", "adjustments?status=", "adjustments?status=PENDING"}

// Companies, their fees, proposals and adjustments are followed by cursor to the end, with each filter and while rows arrive. The
// numbered pages have the same order, and lead over to the cursor.
func TestTheListsOfTheDeskGoOnByCursor(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		account := d.plantDesk()
		late := 0
		for list, want := range deskLists {
			if slices.Contains(growing, list) {
				want += late
			}
			numbered := d.ok(d.ada, "GET", "/admin/v1/"+list+"&pageSize=100", "")
			all := idsOf(numbered)
			if len(all) != want || numbered["next"] != nil || numbered["meta"].(map[string]any)["totalItems"] != float64(want) {
				t.Errorf("%s: %d rows, want %d, %v, %v", list, len(all), want, numbered["meta"], numbered["next"])
			}
			for _, size := range []int{1, 3, 100} {
				path := fmt.Sprintf("/admin/v1/%s&pageSize=%d", list, size)
				if got := d.follow(path, func() {}); !slices.Equal(got, all) {
					t.Errorf("%s: %q; want %q", path, got, all)
				}
			}
			path := "/admin/v1/" + list + "&pageSize=2"
			if first := d.ok(d.ada, "GET", path, ""); want > 2 {
				if got := idsOf(d.ok(d.ada, "GET", path+"&after="+first["next"].(string), ""))[0]; got != all[2] {
					t.Errorf("%s: the cursor of the first numbered page leads to %s; want %s", path, got, all[2])
				}
			}
			got := d.follow(path, func() {
				late++
				d.clock.Advance(time.Second)
				d.newest(fmt.Sprint("Late company ", late), account)
			})
			if !slices.Equal(got, all) {
				t.Errorf("%s, while rows arrive: %q; want %q", path, got, all)
			}
		}
		if late == 0 {
			t.Error("no row has arrived")
		}
	})
}

func TestAWrongCursorAtTheDeskIsRefused(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		for _, path := range []string{"/admin/v1/companies", "/admin/v1/payout-fees", "/admin/v1/proposals", "/admin/v1/adjustments"} {
			for _, wrong := range []string{"x", "2", "MS8AAA", strings.Repeat("A", 5000)} {
				d.no(d.ada, "GET", path+"?after="+wrong, "", 400, `"after" is not a cursor of this list`)
			}
			d.no(d.ada, "GET", path+"?page=2&after=", "", 400, `"page" and "after" are two places in the list: send one of them`)
		}
	})
}
