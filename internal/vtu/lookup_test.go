package vtu_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	simulated "github.com/kobo-waas/kobo/internal/provider/sandbox/safehaven"
	simulatedVTpass "github.com/kobo-waas/kobo/internal/provider/sandbox/vtpass"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// street is a shop that buys from the simulated Safe Haven and the simulated VTpass. No worker runs:
// the tests run the resolver.
type street struct {
	*vtu.Shop
	t          *testing.T
	db         *db.DB
	clock      *clock.Movable
	operations *operation.Service
	audited    []string
	wire       *httptest.Server
	company    string
	settlement int64
	haven      *safehaven.Plug
	pass       *vtpass.Plug
}

// onStreet runs a test on both databases. Every kind of service at Safe Haven has this word in
// lookup_by_reference. The routes choose the biller.
func onStreet(t *testing.T, lookup, routes string, f func(t *testing.T, s *street)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { f(t, newStreet(t, d, lookup, routes)) })
}

func newStreet(t *testing.T, d *db.DB, lookup, routes string) *street {
	s := &street{t: t, db: d, clock: &clock.Movable{}, company: id.Cuid()}
	bank, biller := &simulated.Bank{}, &simulatedVTpass.Biller{}
	box, err := sandbox.Open(t.Context(), sandbox.Config{Path: filepath.Join(t.TempDir(), "sandbox.db"), Clock: s.clock, Hold: time.Millisecond}, bank, biller)
	s.must(err)
	s.wire = httptest.NewServer(box.Handler())
	t.Cleanup(func() { box.Release(); s.wire.Close(); box.Close() })
	config := bank.PlugConfig(s.wire.URL)
	config.PayDeadline, config.ReadDeadline = 2*time.Second, 2*time.Second
	haven, err := safehaven.New(config, s.clock)
	s.must(err)
	pass, err := vtpass.New(biller.PlugConfig(s.wire.URL))
	s.must(err)
	words, err := provider.ParseLookup(lookup, provider.Unproven)
	s.must(err)
	s.haven, s.pass = haven, pass
	log := slog.New(slog.DiscardHandler)
	book := ledger.New(d, s.clock)
	t.Cleanup(book.Drain)
	s.operations = operation.NewService(d, book, s.clock, log, 5*time.Second)
	settlements := settlement.New(settlement.Config{DB: d, Book: book, Clock: s.clock, Operations: s.operations})
	sold, err := vtu.ParseRoutes(routes)
	s.must(err)
	s.Shop = vtu.New(vtu.Config{
		MostLoss: 1000, // most pairs of these tests differ much in price
		DB:       d, Book: book, Clock: s.clock, Log: log, Operations: s.operations, Settlements: settlements, Routes: sold, Call: 2 * time.Second,
		Billers: map[string]provider.Biller{"safehaven": haven, "vtpass": pass}, Lookups: map[string]provider.ByKind{"safehaven": words},
		Audit: func(_ context.Context, _ db.Querier, action, subject string, _ map[string]string) error {
			s.audited = append(s.audited, action+" "+subject)
			return nil
		},
		Note: func(_ context.Context, _ db.Querier, by operator.Operator, action, subject string, _ map[string]string) error {
			s.audited = append(s.audited, by.Name+" "+action+" "+subject)
			return nil
		},
	})
	me := operator.Local("test")
	s.must(book.Commit(t.Context(), ledger.Found(s.company)))
	a, err := settlements.Create(t.Context(), me, s.company, "Main")
	s.must(err)
	s.settlement = a.ID
	s.must(settlements.Fund(t.Context(), me, s.company, a.ID, 1_000_000*money.Naira, "safehaven", "seed"))
	s.must(s.SyncDue(t.Context()))
	return s
}

func (s *street) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// control calls a control endpoint of the sandbox and returns the response.
func (s *street) control(method, path, body string) (out struct {
	Data []struct{ Executions, Requests int }
},
) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.wire.URL+path, strings.NewReader(body))
	s.must(err)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	s.must(err)
	defer a.Body.Close()
	s.must(json.NewDecoder(a.Body).Decode(&out))
	if a.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %d", path, body, a.StatusCode)
	}
	return out
}

// category returns the category of a vendor within a service.
func (s *street) category(kind provider.ServiceKind, name string) vtu.Category {
	s.t.Helper()
	services, err := s.Services(s.t.Context())
	s.must(err)
	for _, v := range services {
		if v.Kind != kind {
			continue
		}
		all, err := s.Categories(s.t.Context(), v.ID)
		s.must(err)
		for _, c := range all {
			if strings.Contains(c.Name, name) {
				return c
			}
		}
	}
	s.t.Fatalf("no %s %s is on sale", kind, name)
	return vtu.Category{}
}

func (s *street) order() vtu.Order {
	return vtu.Order{Company: s.company, SettlementID: s.settlement, IdempotencyKey: id.New()}
}

// data buys a data bundle for a phone with this ending.
func (s *street) data(ending string) operation.Operation {
	s.t.Helper()
	c := s.category(provider.Data, "MTN")
	products, err := s.Products(s.t.Context(), c.ID)
	s.must(err)
	r, err := s.PurchaseData(s.t.Context(), vtu.DataPurchase{Order: s.order(), CategoryID: c.ID, ProductID: products[0].ID, Phone: "080312345" + ending})
	s.must(err)
	return s.find(r.Transaction.ID)
}

// power buys electricity for a meter.
func (s *street) power(meter string) operation.Operation {
	s.t.Helper()
	c := s.category(provider.Utility, "Eko")
	v, err := s.VerifyEntity(s.t.Context(), vtu.EntityQuery{Company: s.company, CategoryID: c.ID, Number: meter})
	s.must(err)
	r, err := s.PurchaseUtility(s.t.Context(), vtu.UtilityPurchase{Order: s.order(), VerificationID: v.ID, Amount: 2000 * money.Naira})
	s.must(err)
	return s.find(r.Transaction.ID)
}

func (s *street) find(operationID string) operation.Operation {
	s.t.Helper()
	o, err := s.operations.Find(s.t.Context(), s.company, operationID)
	s.must(err)
	return o
}

// resolve runs the resolver until the operation has its outcome, or until the resolver gives up. It
// stops after the given duration.
func (s *street) resolve(o operation.Operation, limit time.Duration) operation.Operation {
	s.t.Helper()
	end := s.clock.Now().Add(limit)
	for o = s.find(o.ID); o.State == operation.Pending && !o.NextAt.IsZero() && o.NextAt.Before(end); o = s.find(o.ID) {
		if wait := o.NextAt.Sub(s.clock.Now()); wait > 0 {
			s.clock.MoveTo(s.clock.Offset() + wait + time.Millisecond)
		}
		_, err := s.operations.Resolve(s.t.Context(), job.Job{Company: s.company, Subject: o.ID})
		s.must(err)
	}
	return o
}

// cases returns the reasons of the open cases about an operation.
func (s *street) cases(o operation.Operation) string {
	s.t.Helper()
	all, _, err := s.operations.Cases(s.t.Context(), operation.CaseFilter{State: operation.Open, Subject: o.ID}, 10, 0)
	s.must(err)
	out := ""
	for _, c := range all {
		out += " " + string(c.Reason)
	}
	return strings.TrimSpace(out)
}

// stands checks the end of a purchase. No purchase that was executed is refunded, and none is sent
// twice.
func (s *street) stands(name string, o operation.Operation, want operation.State, reasons string) {
	s.t.Helper()
	executed := 0
	for _, row := range s.control("GET", "/sandbox/provider-ledger?reference="+o.ID, "").Data {
		executed += row.Executions
		if row.Requests != 1 {
			s.t.Errorf("%s: sent %d times", name, row.Requests)
		}
	}
	if o.Refunded() && executed > 0 || o.State == operation.Success && executed != 1 {
		s.t.Errorf("%s: the purchase is %s, but was executed %d times", name, o.State, executed)
	}
	if o.State != want || s.cases(o) != reasons {
		s.t.Errorf("%s: %s %q (%s), want %s %q", name, o.State, s.cases(o), o.Code, want, reasons)
	}
}

// While it is not proven that the biller looks up our references, a purchase that the biller does not
// find is never refunded. The biller's own id, the statement or operators decide.
func TestAbsenceFailsNoPurchaseWhileTheLookupIsUnproven(t *testing.T) {
	const asked = string(operation.Unresolved)
	type end struct {
		state operation.State
		cases string
	}
	open, sold, refused := end{vtu.Pending, asked}, end{vtu.Success, ""}, end{vtu.Failed, ""}
	for mode, ends := range map[string]map[string]end{
		"unsearchable": {"10": sold, "01": refused, "02": sold, "03": open, "04": sold, "05": open, "06": sold, "07": refused, "08": open},
		"ignored":      {"10": sold, "01": refused, "02": open, "03": open, "04": open, "05": open, "06": sold, "07": refused, "08": open},
		"ids":          {"10": sold, "01": refused, "02": open, "03": open, "04": open, "05": open, "06": sold, "07": refused, "08": open},
		"refused":      {"10": refused, "02": refused, "03": refused, "04": refused, "06": refused, "07": refused},
	} {
		t.Run(mode, func(t *testing.T) {
			onStreet(t, provider.Unproven, "*=safehaven", func(t *testing.T, s *street) {
				s.control("POST", "/sandbox/vas-reference", `{"externalReference": "`+mode+`"}`)
				for ending, want := range ends {
					o := s.resolve(s.data(ending), 80*time.Hour)
					s.stands(mode+" "+ending, o, want.state, want.cases)
				}
				if len(s.audited) != 0 {
					t.Errorf("proven: %v", s.audited)
				}
			})
		})
	}
}

// The case is open after the grace period, and not only after three days. Power is never confirmed
// by the statement, which does not contain the token.
func TestAnUnprovenAbsenceBecomesACaseAfterTheGracePeriod(t *testing.T) {
	onStreet(t, provider.Unproven, "*=safehaven", func(t *testing.T, s *street) {
		s.control("POST", "/sandbox/vas-reference", `{"externalReference": "unsearchable"}`)
		s.stands("data", s.resolve(s.data("03"), 20*time.Minute), vtu.Pending, string(operation.Unresolved))
		s.stands("power", s.resolve(s.power("45012345602"), 20*time.Minute), vtu.Pending, string(operation.Unresolved))
	})
}

// A statement without our references confirms no purchase, and refunds none. The order of its lines
// changes nothing.
func TestAnAnonymousStatementDecidesNothing(t *testing.T) {
	for manners, want := range map[string]operation.State{`{"anonymous": true}`: vtu.Pending, `{"newest": true}`: vtu.Success} {
		onStreet(t, provider.Unproven, "*=safehaven", func(t *testing.T, s *street) {
			s.control("POST", "/sandbox/vas-reference", `{"externalReference": "unsearchable"}`)
			s.control("POST", "/sandbox/bank-manners", manners)
			cases := map[operation.State]string{vtu.Pending: string(operation.Unresolved)}
			s.stands(manners, s.resolve(s.data("02"), 20*time.Minute), want, cases[want])
			s.stands(manners, s.resolve(s.data("03"), 20*time.Minute), vtu.Pending, string(operation.Unresolved))
		})
	}
}

// The company writes the narration of its payouts, and a sender that of a credit. So a line with the reference of another
// payment is none of the purchase, and a credit whose words name the purchase leaves the outcome open.
func TestALineOfSomethingElseDecidesNoPurchase(t *testing.T) {
	const session, payout = "000001260102050000000000000003", "0d9c2f3e-58a1-7e0e-9b7a-1f2e3d4c5b6a"
	debit, credit := `{"reference": "%s", "type": "Debit", "amount": 500, "narration": "%s"}`, `{"reference": "%s", "type": "Credit", "amount": 90000, "narration": "%s"}`
	for name, c := range map[string]struct {
		ending, line, reference string
		want                    operation.State
	}{
		"a stranger's credit":           {"02", credit, session, vtu.Pending},
		"a stranger's other credit":     {"02", credit, "abc", vtu.Pending},
		"a credit with our reference":   {"02", credit, "", vtu.Failed},
		"a credit of another payment":   {"02", credit, payout, vtu.Success},
		"a payout in place of a sale":   {"03", debit, payout, vtu.Pending},
		"a payout by its session":       {"03", debit, session, vtu.Pending},
		"a payout beside a sale":        {"02", debit, payout, vtu.Success},
		"a payout beside a failed sale": {"07", debit, payout, vtu.Failed},
	} {
		onStreet(t, provider.Unproven, "*=safehaven", func(t *testing.T, s *street) {
			s.control("POST", "/sandbox/vas-reference", `{"externalReference": "unsearchable"}`)
			o := s.data(c.ending)
			s.control("POST", "/sandbox/statement-line", fmt.Sprintf(c.line, cmp.Or(c.reference, o.OurReference()), o.OurReference()))
			if o = s.resolve(o, 20*time.Minute); o.State != c.want {
				t.Errorf("%s: %s (%s), want %s", name, o.State, o.Code, c.want)
			}
		})
	}
}

// A new line moves an old one to the next page, where it is read again.
func TestALineOnTwoPagesCountsOnce(t *testing.T) {
	onStreet(t, provider.Unproven, "*=safehaven", func(t *testing.T, s *street) {
		s.control("POST", "/sandbox/vas-reference", `{"externalReference": "unsearchable"}`)
		o := s.data("02")
		s.Billers["safehaven"] = doubled{s.haven}
		s.stands("twice", s.resolve(o, 20*time.Minute), vtu.Success, "")
	})
}

// doubled is Safe Haven with each page of the statement listed twice.
type doubled struct{ *safehaven.Plug }

func (d doubled) Statement(ctx context.Context, from, to time.Time, page int) ([]provider.StatementLine, bool, error) {
	lines, more, err := d.Plug.Statement(ctx, from, to, page/2)
	return lines, more || page%2 == 0, err
}

// VTpass may report amounts in another unit, or with a fee. The purchase then stays open with a case,
// because it is not clear what was sold.
func TestAnAmountInAnotherUnitIsACase(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass", func(t *testing.T, s *street) {
		for _, manners := range []string{`{"inKobo": true}`, `{"fee": 100}`} {
			s.control("POST", "/sandbox/vtpass-manners", manners)
			for _, ending := range []string{"10", "02", "06"} {
				s.stands(manners+" "+ending, s.resolve(s.data(ending), 80*time.Hour), vtu.Pending, string(operation.OrderAmount))
			}
			s.stands(manners, s.resolve(s.data("01"), time.Hour), vtu.Failed, "")
		}
	})
}

// One purchase that the biller finds by our reference proves the look-up of its kind. The audit log
// states it. From then on, absence refunds a purchase after the grace period.
func TestAFoundReferenceProvesTheLookup(t *testing.T) {
	onStreet(t, provider.Unproven, "*=safehaven", func(t *testing.T, s *street) {
		early := s.resolve(s.data("03"), 20*time.Minute)
		s.stands("before the proof", early, vtu.Pending, string(operation.Unresolved))
		s.stands("the proof", s.resolve(s.data("02"), 20*time.Minute), vtu.Success, "")
		s.stands("a second one", s.resolve(s.data("02"), 20*time.Minute), vtu.Success, "")
		if got := fmt.Sprint(s.audited); got != "[lookup.proven safehaven/DATA]" {
			t.Errorf("the audit log: %s", got)
		}
		s.stands("after the proof", s.resolve(s.data("03"), 20*time.Minute), vtu.Failed, "")
		s.stands("the early one", s.resolve(early, 2*time.Hour), vtu.Failed, string(operation.Unresolved))
		s.stands("another kind", s.resolve(s.power("45012345603"), 20*time.Minute), vtu.Pending, string(operation.Unresolved))
	})
}

// With the setting proven, absence refunds a purchase after the grace period.
func TestAProvenLookupRefunds(t *testing.T) {
	onStreet(t, "DATA=proven", "*=safehaven", func(t *testing.T, s *street) {
		s.stands("data", s.resolve(s.data("03"), 20*time.Minute), vtu.Failed, "")
		s.stands("power", s.resolve(s.power("45012345603"), 20*time.Minute), vtu.Pending, string(operation.Unresolved))
	})
}
