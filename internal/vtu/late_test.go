package vtu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// puppet is VTpass with the replies of a test. A nil function leaves the reply to the sandbox.
type puppet struct {
	provider.Biller
	provider.SaleReceiver
	pay     func(ctx context.Context, p provider.Purchase) provider.Answer
	requery func(ctx context.Context, s provider.Sale) provider.Answer
}

func (b puppet) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	if b.pay != nil {
		return b.pay(ctx, p)
	}
	return b.Biller.Pay(ctx, p)
}

func (b puppet) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	if b.requery != nil {
		return b.requery(ctx, s)
	}
	return b.Biller.Requery(ctx, s)
}

func refuses(context.Context, provider.Purchase) provider.Answer {
	return provider.Answer{Outcome: provider.Rejected, Unstarted: true, Code: "018"}
}

const topUp = 200 * money.Naira

// buy buys airtime under an idempotencyKey, or under a new one.
func (s *street) buy(key string) operation.Operation {
	s.t.Helper()
	o, c := s.order(), s.category(provider.Airtime, "MTN")
	if key != "" {
		o.IdempotencyKey = key
	}
	r, err := s.PurchaseAirtime(context.WithoutCancel(s.t.Context()), vtu.AirtimePurchase{Order: o, CategoryID: c.ID, Phone: "08031234510", Amount: topUp})
	s.must(err)
	return s.find(r.Transaction.ID)
}

// delivered returns how often the sandbox has delivered purchases with these references.
func (s *street) delivered(references ...string) (n int) {
	s.t.Helper()
	for _, r := range references {
		for _, row := range s.control("GET", "/sandbox/provider-ledger?reference="+r, "").Data {
			n += row.Executions
		}
	}
	return n
}

// A callback about the first attempt may arrive while the purchase moves. The biller's refusal of the
// first attempt then does not end the second one.
func TestACallbackDuringAMoveDecidesNothing(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		held := s.balance()
		inPay, asking, moved, told := make(chan string, 1), make(chan struct{}), make(chan struct{}), make(chan struct{})
		s.Billers["vtpass"] = puppet{
			s.pass, s.pass,
			func(ctx context.Context, p provider.Purchase) provider.Answer {
				inPay <- p.Reference
				<-asking
				return refuses(ctx, p)
			},
			func(context.Context, provider.Sale) provider.Answer {
				close(asking)
				<-moved
				return provider.Answer{Outcome: provider.Rejected, Found: true, Code: "016", Reference: "v1"}
			},
		}
		s.Billers["safehaven"] = puppet{Biller: s.haven, pay: func(ctx context.Context, p provider.Purchase) provider.Answer {
			close(moved)
			<-told
			return s.haven.Pay(ctx, p)
		}}
		ahead := &clock.Movable{} // the program that takes the callback does not wait for the request
		ahead.MoveTo(6 * time.Second)
		s.Clock = ahead
		done := make(chan operation.Operation, 1)
		go func() { done <- s.buy("") }()
		reference := <-inPay
		s.must(s.Notified(t.Context(), "vtpass", reference))
		close(told)
		o := <-done
		if o.State != vtu.Success || o.Provider != "safehaven" || held-s.balance() != topUp || s.delivered(o.OurReference()) != 1 || s.cases(o) != "" {
			t.Errorf("%s at %s (%s), paid %s, cases %q", o.State, o.Provider, o.Code, (held - s.balance()).Decimal(), s.cases(o))
		}
	})
}

// A refusal of the first biller is what it has said before, and opens no case. A delivery opens a case,
// which stays when the second biller has no such purchase.
func TestALateDeliveryIsNotRefunded(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		held, said := s.balance(), provider.Answer{Outcome: provider.Rejected, Found: true, Code: "failed", Reference: "v1"}
		s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, func(context.Context, provider.Sale) provider.Answer { return said }}
		s.Billers["safehaven"] = puppet{Biller: s.haven, pay: func(context.Context, provider.Purchase) provider.Answer {
			return provider.Answer{Code: provider.CodeTimeout} // never sent
		}}
		o := s.buy("")
		if code, _ := s.callback(update(o, "016")); code != 200 || s.cases(o) != "" {
			t.Errorf("a refusal: %d, cases %q", code, s.cases(o))
		}
		said = provider.Answer{Outcome: provider.Confirmed, Found: true, Code: "delivered", Reference: "v1"}
		if code, _ := s.callback(update(o, "000")); code != 200 || s.cases(o) != string(operation.LateAttempt) {
			t.Errorf("a delivery: %d, cases %q", code, s.cases(o))
		}
		o = s.resolve(o, 80*time.Hour)
		if o.State != vtu.Pending || held-s.balance() != topUp {
			t.Errorf("%s, paid %s, cases %q", o.State, (held - s.balance()).Decimal(), s.cases(o))
		}
	})
}

// Nobody may say that the first biller has delivered late. So it is asked again an hour and a day after its
// refusal, and a delivery opens a case. Silence for 72 hours opens one too.
func TestTheFirstBillerIsAskedAgain(t *testing.T) {
	var (
		refused   = provider.Answer{Outcome: provider.Rejected, Found: true, Code: "016", Reference: "v1"}
		delivered = provider.Answer{Outcome: provider.Confirmed, Found: true, Code: "delivered", Reference: "v1"}
		pending   = provider.Answer{Found: true, Code: "099", Reference: "v1"}
		missing   = provider.Answer{Missing: true, Code: "015"}
		silent    = provider.Answer{Code: provider.CodeTimeout}
		late      = string(operation.LateAttempt)
	)
	for name, c := range map[string]struct {
		replies []provider.Answer // the last one repeats
		asked   string            // the ages of the questions, in hours
		cases   string
	}{
		"refused":          {[]provider.Answer{refused}, "1 24", ""},
		"missing":          {[]provider.Answer{missing}, "1 24", ""},
		"delivered":        {[]provider.Answer{delivered}, "1", late},
		"pending":          {[]provider.Answer{pending}, "1", late},
		"delivered later":  {[]provider.Answer{missing, delivered}, "1 24", late},
		"silent at first":  {[]provider.Answer{silent, silent, refused}, "1 2 3 24", ""},
		"delivered unseen": {[]provider.Answer{silent, silent, delivered}, "1 2 3", late},
	} {
		t.Run(name, func(t *testing.T) {
			onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
				held, asked, hours, replies := s.balance(), "", 0, c.replies
				s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, func(context.Context, provider.Sale) provider.Answer {
					asked += fmt.Sprint(" ", hours)
					a := replies[0]
					replies = replies[min(1, len(replies)-1):]
					return a
				}}
				o := s.buy("")
				s.ages(o, 100, func(h int) { hours = h })
				if asked != " "+c.asked || s.cases(o) != c.cases || held-s.balance() != topUp || o.State != vtu.Success {
					t.Errorf("asked after %s hours, not %s; cases %q, not %q; %s, paid %s", asked, c.asked, s.cases(o), c.cases, o.State, held-s.balance())
				}
			})
		})
	}
	t.Run("silent", func(t *testing.T) {
		onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
			asked := 0
			s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, func(context.Context, provider.Sale) provider.Answer {
				asked++
				return silent
			}}
			o := s.buy("")
			s.ages(o, 120, func(int) {})
			if asked != 24+72 || s.cases(o) != late {
				t.Errorf("asked %d times, cases %q", asked, s.cases(o))
			}
		})
	})
}

// A failed run of the job has changed the time of its next run. So a late question after it is not the last one.
func TestALateQuestionAfterAFailedRunIsNotTheLast(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, func(context.Context, provider.Sale) provider.Answer {
			return provider.Answer{Missing: true, Code: "015"}
		}}
		o := s.buy("")
		s.clock.MoveTo(30 * time.Hour)
		for _, failed := range []string{"the database is away", ""} {
			j := job.Job{Company: o.Company, Kind: operation.AttemptJob, Subject: o.ID, RunAt: s.clock.Now(), LastError: failed}
			next, err := s.CheckAttempt(t.Context(), j)
			if s.must(err); failed == "" && !next.IsZero() || failed != "" && next.Before(j.RunAt.Add(23*time.Hour)) {
				t.Errorf("after %q the next question is at %s", failed, next)
			}
		}
	})
}

// Without a look-up, the statement of the bank's account says whether the bank has delivered late.
func TestTheStatementShowsALateDelivery(t *testing.T) {
	for name, charged := range map[string]bool{"charged": true, "not charged": false} {
		t.Run(name, func(t *testing.T) {
			onStreet(t, provider.Unproven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
				began := s.clock.Now()
				s.Billers["safehaven"] = banked{puppet{Biller: s.haven, pay: refuses, requery: func(context.Context, provider.Sale) provider.Answer {
					return provider.Answer{Missing: true, Code: "404"}
				}}, func(sent string) []provider.StatementLine {
					return map[bool][]provider.StatementLine{true: {{ID: "line", Reference: sent, Narration: "Airtime " + sent, Amount: topUp, At: began}}}[charged]
				}, new(string)}
				o := s.buy("")
				*s.Billers["safehaven"].(banked).sent = o.ID
				s.ages(o, 30, func(int) {})
				if want := map[bool]string{true: string(operation.LateAttempt)}[charged]; s.cases(o) != want || o.Provider != "vtpass" {
					t.Errorf("%s, cases %q, not %q", o.Provider, s.cases(o), want)
				}
				books := s.Billers["safehaven"].(banked)
				r, err := report.New(s.db, s.clock).Reconcile(t.Context(), "safehaven", books, began, s.clock.Now())
				s.must(err)
				told := fmt.Sprint(r.Breaks)
				if named := strings.Contains(told, "attempt 1 of the operation "+o.ID+" of "+o.Company) && strings.Contains(told, "went on at vtpass"); named != charged {
					t.Errorf("the statement's breaks: %s", told)
				}
			})
		})
	}
}

// banked is a biller with an account at which it has a statement.
type banked struct {
	puppet
	lines func(sent string) []provider.StatementLine
	sent  *string
}

func (b banked) Statement(context.Context, time.Time, time.Time, int) ([]provider.StatementLine, bool, error) {
	return b.lines(*b.sent), false, nil
}

// ages runs the jobs about an operation's earlier attempts, hour by hour. It calls at before each hour.
func (s *street) ages(o operation.Operation, hours int, at func(hour int)) {
	s.t.Helper()
	began := s.clock.Now()
	for h := range hours {
		at(h)
		for {
			due, err := db.All(s.t.Context(), s.db, db.Value[string], `SELECT subject FROM job WHERE company_id = $1 AND kind = $2 AND run_at <= $3`,
				o.Company, operation.AttemptJob, clock.Micros(s.clock.Now()))
			if s.must(err); len(due) == 0 {
				break
			}
			next, err := s.CheckAttempt(s.t.Context(), job.Job{Company: o.Company, Kind: operation.AttemptJob, Subject: due[0], RunAt: s.clock.Now()})
			s.must(err)
			if next.IsZero() {
				_, err = s.db.Exec(s.t.Context(), `DELETE FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3`, o.Company, operation.AttemptJob, due[0])
			} else {
				_, err = s.db.Exec(s.t.Context(), `UPDATE job SET run_at = $4 WHERE company_id = $1 AND kind = $2 AND subject = $3`,
					o.Company, operation.AttemptJob, due[0], clock.Micros(next))
			}
			s.must(err)
		}
		s.clock.MoveTo(s.clock.Offset() + began.Add(time.Duration(h+1)*(time.Hour+30*time.Second)).Sub(s.clock.Now()))
	}
}

// A callback during the request gets an error, so that the biller sends it again. The purchase may move
// meanwhile, and the callback is then about the first attempt.
func TestACallbackDuringTheRequestComesAgain(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		var code int
		s.Billers["vtpass"] = puppet{Biller: s.pass, SaleReceiver: s.pass, pay: func(_ context.Context, p provider.Purchase) provider.Answer {
			code, _ = s.callback(update(operation.Operation{ID: p.Reference}, "000"))
			return provider.Answer{Outcome: provider.Confirmed, Code: "delivered"}
		}}
		if o := s.buy(""); o.State != vtu.Success || code != 503 {
			t.Errorf("%s, the callback got %d", o.State, code)
		}
	})
}

// If the next biller has the vendor's service twice, the purchase does not move.
func TestAnAmbiguousCategoryStopsTheMove(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		_, err := s.db.Exec(t.Context(), `INSERT INTO vtu_category (id, service_id, provider, code, vendor, name, active, updated_at)
			SELECT 'twin', service_id, provider, 'twin', vendor, name, 1, updated_at FROM vtu_category
			WHERE provider = 'safehaven' AND vendor = 'MTN' AND service_id = (SELECT id FROM vtu_service WHERE kind = 'AIRTIME')`)
		s.must(err)
		s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, nil}
		if o := s.buy(""); o.State != vtu.Failed || o.Attempt != 0 {
			t.Errorf("%s at %s", o.State, o.Provider)
		}
	})
}
