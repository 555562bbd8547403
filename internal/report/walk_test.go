package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// inParts is a company of the function audited, whose ledger counts as large.
type inParts struct {
	*report.Service
	t       *testing.T
	db      *db.DB
	clock   *clock.Manual
	company string
}

func startInParts(t *testing.T, d *db.DB) *inParts {
	t.Helper()
	_, company, _ := audited(t, d)
	clk := clock.At(time.Date(2030, 1, 2, 4, 0, 0, 0, time.UTC))
	r := report.New(d, clk)
	r.InParts(time.Hour)
	return &inParts{r, t, d, clk, company}
}

// says returns the result of a check, and fails the test unless its findings contain the text. An
// empty text means that the ledger must be intact.
func (p *inParts) says(found string) report.Integrity {
	p.t.Helper()
	i, err := p.Integrity(p.t.Context(), p.company)
	if text := strings.Join(i.Wrongs, "\n"); err != nil || i.Intact() != (found == "") || !strings.Contains(text, found) {
		p.t.Fatalf("%q, %v; want %q", text, err, found)
	}
	return i
}

// walk runs the job until no walk is due, and returns its findings. A run ends after a second, so a walk may need several on a busy machine.
func (p *inParts) walk() (wrongs []string) {
	p.t.Helper()
	for {
		found, next, err := p.Walk(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if wrongs = append(wrongs, found...); next.Sub(p.clock.Now()) > time.Minute {
			return wrongs
		}
	}
}

// walks fails the test unless the findings of the job contain the text.
func (p *inParts) walks(found string) {
	p.t.Helper()
	if text := strings.Join(p.walk(), "\n"); (text == "") != (found == "") || !strings.Contains(text, found) {
		p.t.Fatalf("%q; want %q", text, found)
	}
}

// must runs an SQL statement that changes rows of the company.
func (p *inParts) must(statement string) {
	p.t.Helper()
	if n, err := p.db.Exec(p.t.Context(), statement, p.company); err != nil || n == 0 {
		p.t.Fatal(n, err)
	}
}

// credit adds a transfer and an event.
func (p *inParts) credit() {
	p.t.Helper()
	u := ledger.For(p.company)
	u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: 100, Kind: "credit"})
	event.Emit(&u, event.KYBChanged, map[string]string{})
	if err := ledger.New(p.db, p.clock).Commit(p.t.Context(), u); err != nil {
		p.t.Fatal(err)
	}
}

// A check that ends one of several parts finds few new entries, but it alone counts all events. It keeps how far the events are verified, too, so
// that the next one does not count them again.
func TestTheEventsOfALargeLedgerAreCountedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := startInParts(t, d)
		p.says("")
		p.must(`UPDATE report_progress SET verified_sequence = 0 WHERE company_id = $1`) // so a part leaves it that does not come to the end
		p.Large(2)
		p.says("")
		verified, err := db.One(t.Context(), d, db.Value[int64], `SELECT verified_sequence FROM report_progress WHERE company_id = $1`, p.company)
		if err != nil || verified != 2 {
			t.Errorf("%d events are verified, %v", verified, err)
		}
	})
}

// A check of a large ledger reads only new rows, so it does not see a changed old row. The daily
// walk finds it, and the finding stays in the result until a later walk finds none.
func TestAWalkFindsWhatTheCheckOfNewRowsCannotSee(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := startInParts(t, d)
		if i := p.says(""); i.VerifiedUpTo != 2 || i.Entries != 4 || !i.FullWalkAt.IsZero() {
			t.Errorf("the first check: %+v", i)
		}
		p.walks("")
		began := p.clock.Now()
		p.must(`UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND kind = 'test'`)
		p.credit()
		p.clock.Advance(time.Hour)
		p.walks("")
		if i := p.says(""); i.VerifiedUpTo != 3 || i.Sequence != 3 || i.Entries != 6 || !i.FullWalkAt.Equal(began) {
			t.Errorf("after a walk: %+v", i)
		}
		p.clock.Advance(23 * time.Hour)
		p.walks("does not have exactly its debit and its credit")
		began = p.clock.Now()
		p.credit()
		for range 2 {
			if i := p.says("does not have exactly its debit and its credit"); i.VerifiedUpTo != 3 || i.Sequence != 4 || !i.FullWalkAt.Equal(began) {
				t.Errorf("after a finding: %+v", i)
			}
		}
		p.must(`UPDATE ledger_transfer SET amount_kobo = amount_kobo - 1 WHERE company_id = $1 AND kind = 'test'`)
		p.clock.Advance(time.Hour - time.Microsecond)
		p.walks("")
		p.says("does not have exactly its debit and its credit")
		p.clock.Advance(time.Microsecond)
		p.walks("")
		if i := p.says(""); i.VerifiedUpTo != 4 || i.Entries != 8 || !i.FullWalkAt.Equal(p.clock.Now()) {
			t.Errorf("after the repair: %+v", i)
		}
	})
}

// A walk while the clock was ten days ahead does not stand for the walks of these ten days, whether it has found a difference or not.
func TestAWalkOfAClockAheadIsFollowedByOneOfTheRightClock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const ahead = 10 * 24 * time.Hour
		p := startInParts(t, d)
		p.clock.Jump(ahead)
		p.walks("")
		p.clock.Jump(-ahead)
		p.must(`UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND kind = 'test'`)
		p.walks("does not have exactly its debit and its credit")
		p.clock.Jump(ahead)
		p.walks("does not have exactly its debit and its credit")
		p.clock.Jump(-ahead)
		p.must(`UPDATE ledger_transfer SET amount_kobo = amount_kobo - 1 WHERE company_id = $1 AND kind = 'test'`)
		p.walks("")
		began := p.clock.Now()
		if i := p.says(""); !i.FullWalkAt.Equal(began) {
			t.Errorf("after the repair: %+v", i)
		}
		p.clock.Advance(time.Hour)
		p.walks("")
		if i := p.says(""); !i.FullWalkAt.Equal(began) {
			t.Errorf("a walk an hour later: %+v", i)
		}
	})
}

// A check without verified rows, a check of new rows, and a walk each find every change by hand. A
// check with a difference does not move the verified rows forward.
func TestAChangeByHandIsFoundInParts(t *testing.T) {
	for name, c := range byHand {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				p := startInParts(t, d)
				p.must(c.statement)
				for range 2 {
					if i, err := p.Integrity(t.Context(), p.company); err != nil || i.Intact() || i.VerifiedUpTo != 0 {
						t.Errorf("%+v, %v", i, err)
					}
				}
				if wrongs := p.walk(); len(wrongs) == 0 {
					t.Error("the walk finds nothing")
				}
			})
		})
	}
}

// After old rows were verified, a check still compares all balances, and all that is in flight.
func TestACheckOfNewRowsComparesAllBalances(t *testing.T) {
	for _, name := range []string{"a balance", "two balances", "an entry too many", "an operation", "an operation's sum", "the last event"} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				p := startInParts(t, d)
				p.says("")
				p.must(byHand[name].statement)
				if i, err := p.Integrity(t.Context(), p.company); name != "the last event" && (err != nil || i.Intact()) {
					t.Errorf("%+v, %v", i, err)
				}
			})
		})
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := startInParts(t, d)
		p.says("")
		p.credit()
		p.says("")
		p.must(`UPDATE ledger_head SET event_sequence = event_sequence - 1 WHERE company_id = $1`)
		p.says("where the company lock row says 2")
		p.must(`UPDATE ledger_head SET event_sequence = event_sequence + 1 WHERE company_id = $1`)
		p.must(`DELETE FROM ledger_account WHERE company_id = $1 AND id = 'clearing/test'`)
		p.says("account clearing/test is missing")
	})
}

// An account may hold more than one amount can be. Its place is stored and read again.
func TestABalanceAboveTheLargestAmount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := startInParts(t, d)
		u := ledger.For(p.company)
		for range 3 {
			u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: money.Max, Kind: "credit"})
		}
		if err := ledger.New(p.db, p.clock).Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		p.walks("")
		p.says("")
		p.credit()
		p.says("")
	})
}

// A walk continues after each step where the step before has stopped. Rows that are committed
// meanwhile do not disturb it.
func TestAWalkInSteps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := startInParts(t, d)
		for range 20 {
			p.credit()
		}
		steps := 0
		for done := false; !done; steps++ {
			var wrongs []string
			var err error
			if done, wrongs, err = p.WalkRows(t.Context(), p.company, 3); err != nil || len(wrongs) > 0 {
				t.Fatal(wrongs, err)
			}
			p.credit()
		}
		if steps < 20 {
			t.Errorf("%d steps", steps)
		}
		if i := p.says(""); i.FullWalkAt.IsZero() || i.Entries != int64(2*(2+20+steps)) {
			t.Errorf("%+v after %d steps", i, steps)
		}
	})
}

// A check that finds too many new rows is refused, and says when to repeat it. A difference that a
// walk has found is shown nevertheless.
func TestACheckOfTooManyNewRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := startInParts(t, d)
		p.InParts(0)
		if i, err := p.Integrity(t.Context(), p.company); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%+v, %v", i, err)
		}
		p.must(`INSERT INTO ledger_transfer SELECT company_id, reference, 'stray', debit_account, credit_account, amount_kobo, kind, narration,
			debit_entry, credit_entry, stamp, created_at, 0, '' FROM ledger_transfer WHERE company_id = $1 AND kind = 'test'`)
		p.walks("3 transfers have 4 entries, not two each")
		p.says("3 transfers have 4 entries, not two each")
	})
}

// The check of new credits begins an hour before the last verified credit. It reads all credits if
// that credit's id contains no time.
func TestNewCreditsBeginAnHourBeforeTheLast(t *testing.T) {
	for credit, want := range map[string]string{
		"0190163d-8694-739b-aea5-966c26f8ad91": "01901606-9814", // 55:30 minutes = 0x36EE80 ms
		"00000000-0001-7000-8000-000000000000": "00000000-0000",
		"":                                     "",
		"c":                                    "",
		"not-a-time-of-an-id":                  "",
	} {
		if got := report.HourBefore(credit); got != want {
			t.Errorf("%s: %s, want %s", credit, got, want)
		}
	}
}
