package admin_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
)

// plantList plants eleven rows of each list that goes on by cursor.
func (d *door) plantList() {
	d.t.Helper()
	reports := report.New(d.base, d.clock)
	for i := range 11 {
		d.clock.Advance(time.Second)
		d.write(`INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
			VALUES ($1, $2, $2, $3, 0, 'unclear', 0, 'OPEN', '', '', '', 0, '', '', 0, 0, $4, $4)`,
			fmt.Sprint("acme", i%2), fmt.Sprintf("case%02d", i), []string{"CARD_BALANCE", "MISSING_CREDIT"}[i%2], clock.Micros(d.clock.Now()))
		if err := reports.NotReconciled(d.t.Context(), []string{"main", "spare"}[i%2], fmt.Errorf("attempt %c", 'a'+i)); err != nil {
			d.t.Fatal(err)
		}
		if err := d.operators.FailedLogin(d.t.Context(), fmt.Sprint("company.token.failed.", i%2), fmt.Sprintf("acme%02d", i)); err != nil {
			d.t.Fatal(err)
		}
	}
}

// follow returns the rows of a list from its newest on, by cursor. Before each further page it calls the function meanwhile.
func (d *door) follow(path string, meanwhile func()) (ids []string) {
	d.t.Helper()
	for after := ""; ; meanwhile() {
		page := d.ok(d.ada, "GET", path+"&after="+url.QueryEscape(after), "")
		if page["meta"] != nil {
			d.t.Errorf("%s: something is counted: %v", path, page["meta"])
		}
		ids = append(ids, idsOf(page)...)
		if page["next"] == nil {
			return ids
		}
		after = page["next"].(string)
	}
}

func idsOf(page map[string]any) (ids []string) {
	for _, row := range page["data"].([]any) {
		for _, name := range []string{"id", "proposalId", "reference", "company"} {
			if id, named := row.(map[string]any)[name].(string); named {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids
}

// Cases, comparisons and audit lines are followed by cursor to the end, with filters and while rows arrive. Numbered pages stay,
// and lead over to the cursor.
func TestLongListsGoOnByCursor(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		d.plantList()
		for _, c := range []struct {
			path       string
			size, want int
		}{
			{"cases?", 3, 11},
			{"cases?company=acme1", 2, 5},
			{"cases?reason=CARD_BALANCE", 2, 6},
			{"cases?status=RESOLVED", 2, 0},
			{"reconciliations?", 3, 11},
			{"reconciliations?provider=spare", 5, 5},
			{"audit?action=company.token.failed.0", 3, 6},
			{"audit?operator=caller:unknown", 4, 11},
			{"audit?operator=caller:unknown&from=2030-01-02", 2, 11},
			{"audit?company=acme03", 1, 1},
			{"audit?company=acme03&to=2030-01-01", 1, 0},
		} {
			path, want := fmt.Sprintf("/admin/v1/%s&pageSize=%d", c.path, c.size), c.want
			numbered := d.ok(d.ada, "GET", "/admin/v1/"+c.path+"&pageSize=100", "")
			all := idsOf(numbered)
			if numbered["next"] != nil || numbered["meta"].(map[string]any)["totalItems"] != float64(want) {
				t.Errorf("%s: %v, %v", path, numbered["meta"], numbered["next"])
			}
			if got := d.follow(path, func() {}); len(got) != want || !slices.Equal(got, all) {
				t.Errorf("%s: %q; want %q", path, got, all)
			}
			first := d.ok(d.ada, "GET", path, "")
			if cursor, more := first["next"].(string); more != (want > c.size) {
				t.Errorf("%s: the numbered page has next %v", path, first["next"])
			} else if more && idsOf(d.ok(d.ada, "GET", path+"&after="+cursor, ""))[0] != all[c.size] {
				t.Errorf("%s: the cursor of the first numbered page leads elsewhere", path)
			}
		}
	})
}

func TestRowsThatArriveDoNotMoveThePagesByCursor(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		d.plantList()
		for i, path := range []string{"/admin/v1/cases?pageSize=2", "/admin/v1/reconciliations?pageSize=2", "/admin/v1/audit?pageSize=2&operator=caller:unknown"} {
			want := d.follow(path, func() {})
			n := 0
			got := d.follow(path, func() {
				n++
				d.clock.Advance(time.Second)
				d.write(`INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
					SELECT company_id, $1, $1, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement, proposed_by, resolved_by, proposed_at, happened_at, $2, $2
					FROM operation_case WHERE id = 'case00'`, fmt.Sprint("late", i, "-", n), clock.Micros(d.clock.Now()))
				if err := report.New(d.base, d.clock).NotReconciled(t.Context(), "main", errors.New("late")); err != nil {
					t.Fatal(err)
				}
				if err := d.operators.FailedLogin(t.Context(), "company.token.failed.late", fmt.Sprint("late", i, "-", n)); err != nil {
					t.Fatal(err)
				}
			})
			if n == 0 || !slices.Equal(got, want) {
				t.Errorf("%s: %q; want %q", path, got, want)
			}
		}
	})
}

// A wrong cursor, or a cursor beside a number, is refused.
func TestAWrongCursorOfALongListIsRefused(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		d.plantList()
		for _, path := range []string{"/admin/v1/cases", "/admin/v1/reconciliations", "/admin/v1/audit"} {
			for _, wrong := range []string{"x", "2", "case00", "MS8AAA", strings.Repeat("A", 5000)} {
				d.no(d.ada, "GET", path+"?after="+wrong, "", 400, `"after" is not a cursor of this list`)
			}
			d.no(d.ada, "GET", path+"?page=2&after=", "", 400, `"page" and "after" are two places in the list: send one of them`)
		}
	})
}
