package operation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// If Restore fails for one operation, it still restores the other operations.
func TestOneFailureDoesNotStopRestore(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(silence)
		lost := p.unknown()
		p.lose(lost)
		_, err := p.db.Exec(t.Context(), `INSERT INTO operation (`+strings.ReplaceAll(operation.Columns, "operation.", "")+`)
			VALUES ('0-no-head', 'op-1', 'test', '', 'PENDING', 'bank', 1, 100, 0, 0, 0, 0, 0, 0, '', '', '', '', '', '', $1, $1, 0)`, clock.Micros(p.clock.Now()))
		p.must(err)
		if err := p.Restore(t.Context()); err == nil || !strings.Contains(err.Error(), "op-1") {
			t.Errorf("the walk says %v", err)
		}
		if got := fmt.Sprint(p.jobs()); !strings.Contains(got, lost.ID) {
			t.Errorf("the jobs are %s, without %s", got, lost.ID)
		}
	})
}

func TestNobodyIsAskedAboutWhatIsDecided(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.run(o, provider.Answer{Outcome: provider.Confirmed})
		if _, err := p.AskAbout(t.Context(), o); !errors.Is(err, operation.ErrDecided) {
			t.Errorf("asking says %v", err)
		}
		if open := p.open(); len(open) != 0 {
			t.Errorf("the cases are %+v", open)
		}
	})
}

// A provider's definite reply is written even if the caller has no time left to wait for the
// database.
func TestADefiniteAnswerOutlivesItsCaller(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		spent := db.Within(t.Context(), 0)
		_, err := p.Run(spent, o, func(context.Context) provider.Answer { return provider.Answer{Outcome: provider.Confirmed} }, nil)
		if err != nil && !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for range 1000 {
			now, err := p.Find(t.Context(), o.Company, o.ID)
			p.must(err)
			if now.State == operation.Success {
				return
			}
			<-look.C
		}
		t.Error("the provider's yes was not written within ten seconds")
	})
}

// A provider's definite reply is written as soon as the database is back, because the provider's
// next reply may say less.
func TestADefiniteAnswerWaitsForTheDatabase(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		kind, away := p.kind, 2
		kind.Effects = func(ctx context.Context, o operation.Operation, u *ledger.Unit) error {
			if away--; away >= 0 {
				return fault.New(fault.Unavailable, "Service temporarily unavailable")
			}
			return p.kind.Effects(ctx, o, u)
		}
		p.Handle("test", kind)
		o := p.begin()
		after, err := p.Run(t.Context(), o, func(context.Context) provider.Answer { return rejected }, nil)
		if err != nil || after.State != operation.Failed {
			t.Errorf("%s, %v", after.State, err)
		}
		p.stands(o, operation.Failed)
		if got := fmt.Sprint(p.told()); got != "[test.FAILED]" {
			t.Errorf("told %s", got)
		}
	})
}
