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

// Numbers that may be personal are masked, and our ids are not masked.
func TestLongNumbersAreMasked(t *testing.T) {
	for said, want := range map[string]string{
		"to 0123456789":                        "to ******6789",
		"card 5399 8345 1234 5678, thanks":     "card ***************5678, thanks",
		"5399-8345-1234-5678":                  "***************5678",
		"0192f3a0-1111-7000-8000-00000000000a": "0192f3a0-1111-7000-8000-00000000000a",
		"on 2030-01-02 of 1000.00":             "on 2030-01-02 of 1000.00",
	} {
		if got := mask(said); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
