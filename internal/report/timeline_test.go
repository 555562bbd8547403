package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Successive polls with equal replies are shown as one step. A different reply, or any other step
// between two polls, begins a new step. The first request to the provider is always a separate
// step.
func TestEqualPollsAreOneStep(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		answer := func(poll int, outcome, message string) {
			t.Helper()
			_, err := d.Exec(t.Context(), `INSERT INTO operation_answer (company_id, id, operation_id, poll, outcome, code, message, reference, answered_at)
				VALUES ('c1', $1, 'op1', $2, $3, '', $4, '', $5)`,
				fmt.Sprintf("%04d", poll), poll, outcome, message, clock.Micros(begun.Add(time.Duration(poll)*time.Minute)))
			if err != nil {
				t.Fatal(err)
			}
		}
		for poll := range 101 {
			answer(poll, "unknown", "timed out")
		}
		answer(101, "pending", "")
		answer(102, "unknown", "timed out")
		c := operation.Case{Company: "c1", Subject: "op1", Reason: "UNRESOLVED", CreatedAt: begun.Add(40*time.Minute + time.Second)}
		steps, err := New(d, clock.System{}).CaseTimeline(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range steps {
			got = append(got, clock.Text(s.At)[11:16]+" "+s.Text)
		}
		if want := []string{
			"00:00 first call: unknown () timed out",
			"00:01 polls 1 to 40, 40 equal answers, the last at 2026-01-01T00:40:00.000Z: unknown () timed out",
			"00:40 UNRESOLVED: ",
			"00:41 polls 41 to 100, 60 equal answers, the last at 2026-01-01T01:40:00.000Z: unknown () timed out",
			"01:41 poll 101: pending ()",
			"01:42 poll 102: unknown () timed out",
		}; !slices.Equal(got, want) {
			t.Errorf("got\n%s", strings.Join(got, "\n"))
		}
	})
}

// A transfer has the events of its commit, also if a busy company had thousands of other events in the same second.
func TestABusyCompanyHasTheEventsOfATransfer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, statement := range []string{
			`INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ('c1', 8000, $1)`,
			`INSERT INTO event (company_id, sequence, id, kind, data, created_at, leaf, mac)
				WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
				SELECT 'c1', i, 'event' || i, 'payout.success', '{"reference":"p' || (i / 2) || '"}', $1 + i * 100, 0, '' FROM n`,
		} {
			if _, err := d.Exec(t.Context(), statement, clock.Micros(at)); err != nil {
				t.Fatal(err)
			}
		}
		steps := []Step{{What: "intent", At: at.Add(650 * time.Millisecond)}, {What: "transfer", At: at.Add(700 * time.Millisecond)}, {What: "transfer", At: at.Add(700*time.Millisecond + 100*time.Microsecond)}}
		got, err := eventsAround(t.Context(), d, "c1", "p3500", steps)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[0].Event != 7000 || got[1].Event != 7001 {
			t.Errorf("got %+v", got)
		}
	})
}

// Numbers that may be personal are masked, and our ids are not masked.
func TestLongNumbersAreMasked(t *testing.T) {
	for said, want := range map[string]string{
		"to 0123456789":                        "to ******6789",
		"card 5399 8345 1234 5678, thanks":     "card ***************5678, thanks",
		"5399-8345-1234-5678":                  "***************5678",
		"0192f3a0-1111-7000-8000-00000000000a": "0192f3a0-1111-7000-8000-00000000000a",
		"on 2030-01-02 of 1000.00":             "on 2030-01-02 of 1000.00",
		"2030-01-02 10 of 02-01-2030":          "2030-01-02 10 of 02-01-2030",
		"0803 987 6543 or 0803-987-6543":       "*********6543 or *********6543",
		"+234 803 987 6543":                    "+************6543",
		"012 345 6710, 12 000 000":             "********6710, 12 000 000",
	} {
		if got := mask(said); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
