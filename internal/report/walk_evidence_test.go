package report_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// handed collects the rows that walks hand over, by ID.
type handed map[string]ledger.Break

func (h handed) take(_ context.Context, _ string, breaks []ledger.Break) ([]string, error) {
	for _, b := range breaks {
		h[b.ID] = b
	}
	return nil, nil
}

// accounts returns the accounts of the rows, each once.
func (h handed) accounts() []string {
	var out []string
	for _, b := range h {
		out = append(out, b.Account)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ids returns the IDs of the rows, and forgets them.
func (h handed) ids() []string {
	out := slices.Sorted(maps.Keys(h))
	clear(h)
	return out
}

// adopted starts a company whose rows must all be signed.
func adopted(t *testing.T, d *db.DB) (*inParts, handed) {
	t.Helper()
	p, found := startInParts(t, d), handed{}
	u := ledger.For(p.company)
	u.Append(operator.Itself().Note(p.company, "evidence.adopt", p.company, nil, p.clock.Now()))
	if err := ledger.New(d, p.clock).Commit(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	p.Broken = found.take
	p.walks("")
	return p, found
}

// A walk hands over each altered row with its account. The row of a transfer belongs to both its
// accounts.
func TestAWalkKnowsTheAccountOfAnAlteredRow(t *testing.T) {
	const purchase = `company_id = $1 AND kind = 'test'`
	for name, c := range map[string]struct{ statement, accounts, found string }{
		"a narration":     {`UPDATE ledger_transfer SET narration = 'rent' WHERE ` + purchase, "clearing/test settlement/1", "its MAC is wrong"},
		"a MAC":           {`UPDATE ledger_transfer SET mac = '' WHERE ` + purchase, "clearing/test settlement/1", "its MAC is wrong"},
		"no MAC":          {`UPDATE ledger_transfer SET mac = '', leaf = 0 WHERE ` + purchase, "clearing/test settlement/1", "its MAC is wrong"},
		"an amount":       {`UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE ` + purchase, "clearing/test settlement/1", "does not have exactly"},
		"a transfer":      {`DELETE FROM ledger_transfer WHERE ` + purchase, "clearing/test settlement/1", "does not have exactly"},
		"a balance":       {`UPDATE ledger_account SET balance_kobo = balance_kobo + 1 WHERE company_id = $1 AND id = 'settlement/1'`, "settlement/1", "where its entries end"},
		"the last entry":  {`DELETE FROM ledger_entry WHERE company_id = $1 AND account_id = 'settlement/1' AND sequence = 2`, "clearing/test settlement/1", "where its entries end"},
		"the first entry": {`DELETE FROM ledger_entry WHERE company_id = $1 AND account_id = 'settlement/1' AND sequence = 1`, "capital settlement/1", "begins at"},
		"a chain":         {`UPDATE ledger_entry SET previous_kobo = previous_kobo + 5, current_kobo = current_kobo + 5 WHERE company_id = $1 AND account_id = 'settlement/1' AND sequence = 1`, "settlement/1", "begins at"},
		"an event":        {`UPDATE event SET data = '{}', kind = 'kyb.changed' WHERE company_id = $1 AND sequence = 2`, "", "event 2 was altered"},
		"an audit line":   {`UPDATE operator_audit SET operator = 'eve' WHERE company_id = $1`, "", "operator_audit"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				p, found := adopted(t, d)
				p.must(c.statement)
				p.clock.Advance(24 * time.Hour)
				p.walks(c.found)
				if got := strings.Join(found.accounts(), " "); got != c.accounts || len(found) == 0 {
					t.Errorf("%q, want %q: %+v", got, c.accounts, found)
				}
				first := found.ids()
				p.clock.Advance(time.Hour)
				p.walks(c.found)
				if again := found.ids(); !slices.Equal(again, first) {
					t.Errorf("the next walk finds %v, not %v", again, first)
				}
				p.credit()
				p.clock.Advance(time.Hour)
				p.walks(p.company) // a break at the end of an account is now one between two entries
				if later := found.ids(); !slices.Equal(later, first) {
					t.Errorf("after a credit, the walk finds %v, not %v", later, first)
				}
			})
		})
	}
}

// A row that was altered once more has a new ID.
func TestAFurtherAlterationIsANewRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p, found := adopted(t, d)
		seen := map[string]bool{}
		for _, narration := range []string{"rent", "food", "rent and food"} {
			p.must(`UPDATE ledger_transfer SET narration = '` + narration + `' WHERE company_id = $1 AND kind = 'test'`)
			p.clock.Advance(24 * time.Hour)
			p.walks("its MAC is wrong")
			for _, id := range found.ids() {
				if seen[id] {
					t.Errorf("%s: %s is an earlier row", narration, id)
				}
				seen[id] = true
			}
		}
	})
}

// A crash between a finding and its handing over loses nothing, because the walk has not stored its
// place. After each step, a new program goes on.
func TestAFindingThatWasNotTakenIsRepeated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p, found := adopted(t, d)
		p.must(`UPDATE ledger_transfer SET narration = 'rent' WHERE company_id = $1 AND kind = 'test'`)
		p.clock.Advance(24 * time.Hour)
		crash := errors.New("the program dies")
		crashes := 0
		p.Broken = func(ctx context.Context, company string, breaks []ledger.Break) ([]string, error) {
			if crashes++; crashes%2 == 1 {
				return nil, crash
			}
			return found.take(ctx, company, breaks)
		}
		for done := false; !done; {
			var err error
			if done, _, err = p.WalkRows(t.Context(), p.company, 3); err != nil {
				if done = false; !errors.Is(err, crash) {
					t.Fatal(err)
				}
			}
		}
		if crashes < 4 || len(found) != 2 || strings.Join(found.accounts(), " ") != "clearing/test settlement/1" {
			t.Errorf("%d calls: %+v", crashes, found)
		}
	})
}

// New rows are checked without a walk. A walk does not report rows that two operators have accepted.
func TestNewRowsAreCheckedSoon(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p, found := adopted(t, d)
		p.credit()
		p.must(`UPDATE ledger_transfer SET narration = 'forged' WHERE company_id = $1 AND leaf = (SELECT max(leaf) FROM ledger_transfer WHERE company_id = $1)`)
		p.clock.Advance(10 * time.Minute)
		p.walks("its MAC is wrong")
		if got := strings.Join(found.accounts(), " "); got != "capital settlement/1" {
			t.Errorf("%s: %+v", got, found)
		}
		p.Broken = func(_ context.Context, _ string, breaks []ledger.Break) (texts []string, _ error) {
			for _, b := range breaks {
				texts = append(texts, b.Text)
			}
			return texts, nil
		}
		p.clock.Advance(time.Hour)
		p.walks("")
		if i := p.says(""); i.VerifiedUpTo != i.Sequence {
			t.Errorf("%+v", i)
		}
	})
}
