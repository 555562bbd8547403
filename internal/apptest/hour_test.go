package apptest_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/report"
)

// hoursOf returns the counts of all hours, as the job has made them from events.
func hoursOf(t *testing.T, p *apptest.Program) map[string]string {
	t.Helper()
	list, err := p.App.Reports.Hours(t.Context(), time.Unix(0, 0), p.App.Clock.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, h := range list {
		out[fmt.Sprint(clock.Text(h.At), " ", h.Kind, " ", h.Provider, " ", h.Outcome)] = fmt.Sprint(h.Count, " of ", int64(h.Amount))
	}
	return out
}

// inRows returns the same counts, as the rows of the operations are.
func inRows(t *testing.T, p *apptest.Program) map[string]string {
	t.Helper()
	type row struct {
		hour                  int64
		kind, provider, state string
		count, amount         int64
	}
	list, err := db.All(t.Context(), p.App.DB, db.Fields[row], `
		SELECT created_at - created_at % 3600000000, kind, provider, state, count(*), CAST(sum(amount_kobo) AS BIGINT)
		FROM operation GROUP BY created_at - created_at % 3600000000, kind, provider, state`)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{"PENDING": report.Unsettled, "SUCCESS": report.Paid, "FAILED": report.Refunded, "REVERSED": report.Returned}
	out := map[string]string{}
	for _, r := range list {
		out[fmt.Sprint(clock.Text(clock.Time(r.hour)), " ", r.kind, " ", r.provider, " ", outcomes[r.state])] = fmt.Sprint(r.count, " of ", r.amount)
	}
	return out
}

// The counts of the hours, which follow from events, are those of the operations' rows: for payments of every
// kind and story, while outcomes are unknown, after them, and after a return.
func TestHoursCountWhatTheRowsAre(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		// On a busy machine a shorter window ends a call before the provider has it, and then nothing is paid late.
		p := apptest.Start(t, dialect, apptest.Window(4*time.Second), apptest.Routes("CABLE_TV/GOTV=vtpass"))
		agree := func(outcomes ...string) {
			t.Helper()
			var got, want map[string]string
			for range 5 { // the counts follow the events by some seconds, in which more events come
				p.Advance(11 * time.Second)
				if got, want = hoursOf(t, p), inRows(t, p); maps.Equal(got, want) {
					break
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("%v\nwant %v", got, want)
			}
			for _, outcome := range outcomes {
				found := false
				for name := range got {
					found = found || len(name) > len(outcome) && name[len(name)-len(outcome):] == outcome
				}
				if !found {
					t.Fatalf("nothing is %s in %v", outcome, got)
				}
			}
		}
		for _, s := range stories {
			send(p.Client, verify(t, p.Client, s.ending), 1000).Want(t, s.status)
		}
		agree(report.Unsettled, report.Paid, report.Refunded)
		for _, pay := range payments(t, p) {
			late(t, p, 10*time.Minute)
			pay.pay()
		}
		agree("vtu vtpass "+report.Unsettled, "card sudo "+report.Unsettled)
		reference := verify(t, p.Client, "10")
		send(p.Client, reference, 1000).Want(t, http.StatusOK)
		p.Advance(2 * time.Hour)
		agree("vtu vtpass "+report.Paid, "card sudo "+report.Paid)
		a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/reverse", map[string]string{"reference": reference})
		if err != nil || a.Status != http.StatusOK {
			t.Fatal(a, err)
		}
		p.Advance(time.Minute)
		agree(report.Returned)
	})
}
