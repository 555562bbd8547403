package vtu_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// plot is what happens to a purchase at one biller. The story is an ending of the sandbox, or "off",
// or "unreachable". The program crashes before or after the call, or not at all.
type plot struct{ story, crash string }

const (
	off, unreachable = "off", "unreachable"
	before, after    = "before", "after"
)

// tale has the plots of the next purchase, by biller.
type tale map[string]plot

// pay calls a biller as the plot requires. A crash ends the goroutine of the request.
func (p plot) pay(ctx context.Context, b provider.Biller, buy provider.Purchase) provider.Answer {
	if len(p.story) == 2 {
		for _, number := range []*string{&buy.Phone, &buy.Card, &buy.Meter} {
			if *number != "" {
				*number = (*number)[:len(*number)-2] + p.story
			}
		}
	}
	if p.crash == before {
		runtime.Goexit()
	}
	a := provider.Reply{Trouble: provider.CodeNotSent}.Answer()
	if p.story != unreachable {
		a = b.Pay(ctx, buy)
	}
	if p.crash == after {
		runtime.Goexit()
	}
	return a
}

type staged struct {
	*safehaven.Plug
	tale tale
}

func (b staged) Pay(ctx context.Context, buy provider.Purchase) provider.Answer {
	return b.tale["safehaven"].pay(ctx, b.Plug, buy)
}

type stagedVTpass struct {
	*vtpass.Plug
	tale tale
}

func (b stagedVTpass) Pay(ctx context.Context, buy provider.Purchase) provider.Answer {
	return b.tale["vtpass"].pay(ctx, b.Plug, buy)
}

// stage makes the billers follow the plots of a tale.
func (s *street) stage() tale {
	t := tale{}
	s.Billers["safehaven"], s.Billers["vtpass"] = staged{s.haven, t}, stagedVTpass{s.pass, t}
	return t
}

// play makes a purchase, which may crash, and runs the resolver to its end.
func (s *street) play(t tale, plots tale, buy func(o vtu.Order)) operation.Operation {
	s.t.Helper()
	for name, control := range map[string]string{"safehaven": "vas", "vtpass": "vtpass"} {
		t[name] = plots[name]
		s.control("POST", "/sandbox/"+control+"-off", fmt.Sprintf(`{"off": %t}`, plots[name].story == off))
	}
	order, done := s.order(), make(chan struct{})
	go func() {
		defer close(done)
		buy(order)
	}()
	<-done
	o, err := s.operations.FindByKey(s.t.Context(), s.company, vtu.Kind, order.IdempotencyKey)
	s.must(err)
	return s.resolve(o, 80*time.Hour)
}

func (s *street) balance() money.Kobo {
	s.t.Helper()
	b, err := s.Book.Balance(s.t.Context(), s.company, settlement.LedgerAccount(s.settlement))
	s.must(err)
	return b
}

// attempts returns the attempts of an operation, such as "vtpass UNSTARTED, safehaven ENDED", and their
// references.
func (s *street) attempts(o operation.Operation) (text string, references []string) {
	s.t.Helper()
	type row struct{ provider, state, reference string }
	all, err := db.All(s.t.Context(), s.db, db.Fields[row], `SELECT provider, state, reference FROM operation_attempt
		WHERE company_id = $1 AND operation_id = $2 ORDER BY attempt`, s.company, o.ID)
	s.must(err)
	for _, r := range all {
		text, references = text+", "+r.provider+" "+r.state, append(references, r.reference)
	}
	return strings.TrimPrefix(text, ", "), references
}

// fair returns what is wrong with the end of a purchase, or "". Nothing is delivered twice. The
// company has paid the price exactly if something was delivered, or operators have a case.
func (s *street) fair(o operation.Operation, paid, price money.Kobo) string {
	s.t.Helper()
	text, references := s.attempts(o)
	if len(references) == 0 {
		references = []string{o.ID}
	}
	delivered := 0
	for _, reference := range references {
		for _, row := range s.control("GET", "/sandbox/provider-ledger?reference="+reference, "").Data {
			delivered += row.Executions
			if row.Requests != 1 {
				return fmt.Sprintf("%s was sent %d times", reference, row.Requests)
			}
		}
	}
	open, due := s.cases(o), map[operation.State]money.Kobo{vtu.Success: price, vtu.Pending: price}[o.State]
	switch left := strings.Count(text, "OPEN"); {
	case delivered > 1:
		return "delivered twice"
	case paid != due || o.Amount != price:
		return fmt.Sprintf("%s, but %s was paid for %s", o.State, paid.Decimal(), price.Decimal())
	case o.State == vtu.Pending && open == "", o.State == vtu.Success && delivered != 1, o.State == vtu.Failed && delivered != 0 && open == "":
		return fmt.Sprintf("%s, delivered %d times, cases %q", o.State, delivered, open)
	case left > 0 && o.State != vtu.Pending, strings.Count(text, "ENDED")+left > 1:
		return "the attempts are " + text
	}
	return ""
}

// airtime returns a function that buys airtime.
func (s *street) airtime(price money.Kobo) func(o vtu.Order) {
	c := s.category(provider.Airtime, "MTN")
	return func(o vtu.Order) {
		_, _ = s.PurchaseAirtime(context.WithoutCancel(s.t.Context()), vtu.AirtimePurchase{Order: o, CategoryID: c.ID, Phone: "08031234510", Amount: price})
	}
}

var (
	stories = []string{"10", "01", "02", "03", "04", "05", "06", "07", "08", off, unreachable}
	crashes = []string{"", before, after}
)

// Each story of the first biller, with each story of the second, and a crash at each point: nothing is
// delivered twice, and the purchase moves only after a definite "never started".
func TestEachStoryOfTwoBillers(t *testing.T) {
	const price = 200 * money.Naira
	for _, routes := range []string{"*=vtpass>safehaven", "*=safehaven>vtpass"} {
		t.Run(routes, func(t *testing.T) {
			onStreet(t, provider.Proven, routes, func(_ *testing.T, s *street) {
				buy := s.airtime(price)
				s.eachStory(routes, func() (func(vtu.Order), money.Kobo) { return buy, price })
			})
		})
	}
}

// eachStory plays each story of the first biller of a route with each story of the second, and with a
// crash at each point. The function next returns a new purchase and its price.
func (s *street) eachStory(routes string, next func() (buy func(vtu.Order), price money.Kobo)) {
	first, second, _ := strings.Cut(strings.TrimPrefix(routes, "*="), ">")
	stage := s.stage()
	check := func(one, two plot) {
		buy, price := next()
		held := s.balance()
		o := s.play(stage, tale{first: one, second: two}, buy)
		if wrong := s.fair(o, held-s.balance(), price); wrong != "" {
			s.t.Errorf("%v %v: %s", one, two, wrong)
		}
		moves := one.crash == "" && (one.story == off || one.story == unreachable)
		if text, _ := s.attempts(o); (text != "") != moves || (o.Provider == second) != moves {
			s.t.Errorf("%v %v: at %s, the attempts are %q", one, two, o.Provider, text)
		}
	}
	for _, story := range stories {
		for _, crash := range crashes {
			moves := crash == "" && (story == off || story == unreachable)
			for _, next := range stories[:map[bool]int{true: len(stories), false: 1}[moves]] {
				for _, then := range crashes[:map[bool]int{true: len(crashes), false: 1}[moves]] {
					check(plot{story, crash}, plot{next, then})
				}
			}
		}
	}
}

// Whatever happens at two billers, in any order of purchases, nothing is delivered twice. The price
// never changes.
func TestNothingIsDeliveredTwice(t *testing.T) {
	for _, lookup := range []string{provider.Proven, provider.Unproven} {
		onStreet(t, lookup, "AIRTIME=vtpass>safehaven,DATA=safehaven>vtpass", func(t *testing.T, s *street) {
			bundle, _ := s.paired()
			stage, airtime := s.stage(), s.airtime(150*money.Naira)
			rapid.Check(t, func(t *rapid.T) {
				plots, held := tale{}, s.balance()
				for _, name := range []string{"safehaven", "vtpass"} {
					plots[name] = plot{rapid.SampledFrom(stories).Draw(t, name), rapid.SampledFrom(crashes).Draw(t, "crash at "+name)}
				}
				price, buy := 150*money.Naira, airtime
				if rapid.Bool().Draw(t, "data") {
					price, buy = money.Kobo(bundle.Amount), s.bundle(bundle)
				}
				o := s.play(stage, plots, buy)
				if wrong := s.fair(o, held-s.balance(), price); wrong != "" {
					t.Fatal(wrong)
				}
			})
		})
	}
}

// bundle returns a function that buys a data bundle.
func (s *street) bundle(p vtu.Product) func(o vtu.Order) {
	c := s.category(provider.Data, "MTN")
	return func(o vtu.Order) {
		_, _ = s.PurchaseData(context.WithoutCancel(s.t.Context()), vtu.DataPurchase{Order: o, CategoryID: c.ID, ProductID: p.ID, Phone: "08031234510"})
	}
}

// paired pairs the first data bundle on sale with a bundle of the other biller.
func (s *street) paired() (vtu.Product, vtu.Pair) {
	s.t.Helper()
	return s.pairedOf(provider.Data, "MTN", "vtpass")
}

// pairedOf pairs the first product of a vendor on sale that has a price with a product of a different
// biller and a different price.
func (s *street) pairedOf(kind provider.ServiceKind, vendor, biller string) (vtu.Product, vtu.Pair) {
	s.t.Helper()
	products, err := s.Products(s.t.Context(), s.category(kind, vendor).ID)
	s.must(err)
	others, _, err := s.Listed(s.t.Context(), vtu.ListFilter{Kind: kind, Vendor: vendor, Provider: biller}, 10, 0)
	s.must(err)
	mine := products[slices.IndexFunc(products, func(p vtu.Product) bool { return p.Amount > 0 })]
	theirs := others[slices.IndexFunc(others, func(l vtu.Listed) bool { return l.Price > 0 && l.Price != money.Kobo(mine.Amount) })]
	p, err := s.Pair(s.t.Context(), operator.Local("ada"), mine.ID, theirs.ID)
	s.must(err)
	return mine, p
}

// A pair costs the company the price of the product that it bought. The difference to the other
// biller's price is the fintech's charge, also after a reversal.
func TestThePriceOfAPairStays(t *testing.T) {
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		bundle, pair := s.paired()
		price, cost := money.Kobo(bundle.Amount), pair.First.Price+pair.Second.Price-money.Kobo(bundle.Amount)
		if price == cost {
			t.Fatal("the prices are equal")
		}
		held, stage := s.balance(), s.stage()
		o := s.play(stage, tale{"safehaven": {story: off}, "vtpass": {story: "10"}}, s.bundle(bundle))
		if wrong := s.fair(o, held-s.balance(), price); wrong != "" || o.Provider != "vtpass" || o.State != vtu.Success {
			t.Fatalf("%s at %s: %s", o.State, o.Provider, wrong)
		}
		balances := func(vtpassHas, charged money.Kobo) {
			t.Helper()
			for account, want := range map[string]money.Kobo{"provider/vtpass": vtpassHas, "charge/vtpass": charged, "clearing/vtu": 0} {
				if b, err := s.Book.Balance(t.Context(), s.company, account); err != nil || b != want {
					t.Errorf("%s has %s, want %s: %v", account, b.Decimal(), want.Decimal(), err)
				}
			}
			wrong, err := report.New(s.db, s.clock).Integrity(t.Context(), s.company)
			if s.must(err); !wrong.Intact() {
				t.Errorf("integrity: %v", wrong.Wrongs)
			}
			v, err := report.New(s.db, s.clock).Verify(t.Context(), s.company)
			if s.must(err); strings.Contains(fmt.Sprint(v), o.ID) {
				t.Errorf("verify: %+v", v)
			}
		}
		balances(cost, price-cost)
		if _, err := s.operations.Notified(t.Context(), s.company, o.ID, provider.Answer{Outcome: provider.Rejected, Reversed: true, Code: "040"}); err != nil {
			t.Fatal(err)
		}
		balances(0, 0)
		if s.balance() != held {
			t.Errorf("the company has %s of %s", s.balance().Decimal(), held.Decimal())
		}
	})
}

// A purchase does not move along a pair if a biller has renamed, repriced or removed a product since, or
// if the other biller takes too much more. After the products are paired again, it moves.
func TestAStalePairMovesNothing(t *testing.T) {
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		bundle, pair := s.paired()
		other := pair.First
		if other.Provider != "vtpass" {
			other = pair.Second
		}
		stage, ada := s.stage(), operator.Local("ada")
		play := func(moves bool) {
			t.Helper()
			held, want := s.balance(), vtu.Failed
			if moves {
				want = vtu.Success
			}
			o := s.play(stage, tale{"safehaven": {story: off}, "vtpass": {story: "10"}}, s.bundle(bundle))
			if wrong := s.fair(o, held-s.balance(), money.Kobo(bundle.Amount)); wrong != "" || o.State != want || (o.Provider == "vtpass") != moves {
				t.Errorf("%s at %s: %s", o.State, o.Provider, wrong)
			}
		}
		stale := func() string {
			t.Helper()
			pairs, _, err := s.Pairs(t.Context(), 10, 0)
			if s.must(err); len(pairs) != 1 || pairs[0].ID != pair.ID {
				t.Fatalf("%+v", pairs)
			}
			return pairs[0].Stale()
		}
		play(true)
		for name, c := range map[string]struct{ change, back string }{
			"name":  {"name = name || ' weekend'", "name = substr(name, 1, length(name) - 8)"},
			"price": {"amount_kobo = amount_kobo + 1", "amount_kobo = amount_kobo - 1"},
			"list":  {"active = 0", "active = 1"},
		} {
			for _, product := range []string{other.ID, string(bundle.ID)} {
				if name != "name" && product == string(bundle.ID) {
					continue // the company would buy at the new price, or not at all
				}
				change := func(set string) {
					_, err := s.db.Exec(t.Context(), `UPDATE vtu_product SET `+set+` WHERE id = $1`, product)
					s.must(err)
				}
				change(c.change)
				if stale() == "" {
					t.Errorf("%s of %s: the pair is not stale", name, product)
				}
				play(false)
				if name != "list" {
					if p, err := s.Pair(t.Context(), ada, pair.First.ID, pair.Second.ID); err != nil || p.ID != pair.ID || stale() != "" {
						t.Errorf("%s: pairing again: %v, %s", name, err, stale())
					}
					play(true)
				}
				change(c.back)
				_, err := s.Pair(t.Context(), ada, pair.First.ID, pair.Second.ID)
				if name != "list" {
					s.must(err)
				}
			}
		}
		s.MostLoss = int((other.Price-money.Kobo(bundle.Amount))*100/money.Kobo(bundle.Amount)) + 1
		if play(true); s.MostLoss < 2 {
			t.Fatalf("the further biller takes %s of %s: the test needs more", other.Price, money.Kobo(bundle.Amount))
		}
		s.MostLoss -= 2
		play(false)
		s.MostLoss = 1000
		_, err := s.db.Exec(t.Context(), `UPDATE vtu_product_pair SET first_name = '', first_kobo = 0`) // as before schema 99
		s.must(err)
		play(false)
	})
}

// Without a pair, data stays at its biller. Without a further biller in the routes, and without enough
// time, every purchase stays. It then fails as definite.
func TestAPurchaseStaysWithoutASecondRoute(t *testing.T) {
	for name, c := range map[string]struct {
		routes string
		call   time.Duration
		data   bool
	}{
		"no pair":          {"*=safehaven>vtpass", 2 * time.Second, true},
		"no further route": {"*=safehaven", 2 * time.Second, false},
		"no time":          {"*=safehaven>vtpass", 6 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			onStreet(t, provider.Proven, c.routes, func(t *testing.T, s *street) {
				s.Call = c.call
				buy, stage := s.airtime(200*money.Naira), s.stage()
				if c.data {
					products, err := s.Products(t.Context(), s.category(provider.Data, "MTN").ID)
					s.must(err)
					buy = s.bundle(products[0])
				}
				o := s.play(stage, tale{"safehaven": {story: off}, "vtpass": {story: "10"}}, buy)
				if text, _ := s.attempts(o); o.State != vtu.Failed || text != "" || o.Code != "58" {
					t.Errorf("%s (%s), attempts %q", o.State, o.Code, text)
				}
			})
		})
	}
}

// A callback about the last attempt counts. A callback about an earlier attempt, which the biller has
// carried out after all, opens a case and moves no money.
func TestALateFirstAttemptIsACase(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		stage := s.stage()
		o := s.play(stage, tale{"vtpass": {story: off}, "safehaven": {story: "10"}}, s.airtime(200*money.Naira))
		if code, answer := s.callback(update(o, "000")); code != 200 || s.cases(o) != "" {
			t.Fatalf("nothing was bought at vtpass: %d %s, cases %q", code, answer, s.cases(o))
		}
		s.control("POST", "/sandbox/vtpass-off", `{"off": false}`)
		held := s.balance()
		a := s.pass.Pay(t.Context(), provider.Purchase{
			Reference: o.ID, Begun: o.CreatedAt, Kind: provider.Airtime, Category: "mtn", Amount: 200 * money.Naira, Phone: "08031234510",
		})
		if a.Outcome != provider.Confirmed {
			t.Fatalf("vtpass: %+v", a)
		}
		for range 2 {
			if code, answer := s.callback(update(o, "000")); code != 200 || s.cases(o) != string(operation.LateAttempt) {
				t.Errorf("%d %s, cases %q", code, answer, s.cases(o))
			}
		}
		if now := s.find(o.ID); now.State != vtu.Success || s.balance() != held {
			t.Errorf("%s, the balance is %s", now.State, s.balance().Decimal())
		}
	})
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		o := s.play(s.stage(), tale{"safehaven": {story: off}, "vtpass": {story: "10"}}, s.airtime(200*money.Naira))
		_, references := s.attempts(o)
		s.control("POST", "/sandbox/vtpass-reverse", `{"reference": "`+references[1]+`"}`)
		if code, answer := s.callback(update(operation.Operation{ID: references[1]}, "040")); code != 200 || s.cases(o) != string(operation.Contradiction) {
			t.Errorf("%d %s, cases %q", code, answer, s.cases(o))
		}
	})
}

// Operators pair products of the same vendor at two billers, and each change is in the audit log.
func TestPairsOfProducts(t *testing.T) {
	onStreet(t, provider.Proven, "*=safehaven", func(t *testing.T, s *street) {
		listed := func(kind provider.ServiceKind, vendor, biller string) vtu.Listed {
			t.Helper()
			all, total, err := s.Listed(t.Context(), vtu.ListFilter{Kind: kind, Vendor: vendor, Provider: biller}, 1, 0)
			if s.must(err); len(all) != 1 || total < 1 {
				t.Fatalf("%s %s of %s: %v", kind, vendor, biller, all)
			}
			return all[0]
		}
		here, there := listed(provider.Data, "MTN", "safehaven"), listed(provider.Data, "MTN", "vtpass")
		glo, tv := listed(provider.Data, "GLO", "vtpass"), listed(provider.CableTV, "DSTV", "vtpass")
		ada := operator.Local("ada")
		p, err := s.Pair(t.Context(), ada, there.ID, here.ID)
		s.must(err)
		for name, c := range map[string][2]string{
			"Product not found": {here.ID, "nothing"}, "A pair needs two products": {here.ID, here.ID},
			"The products must be of the same vendor": {here.ID, glo.ID}, "The products must be of the same kind of service": {here.ID, tv.ID},
			"The products must be of different billers": {there.ID, glo.ID}, "The products are a pair already": {here.ID, there.ID},
		} {
			if _, err := s.Pair(t.Context(), ada, c[0], c[1]); err == nil || fault.Of(err).Message != name {
				t.Errorf("%v, want %s", err, name)
			}
		}
		pairs, total, err := s.Pairs(t.Context(), 10, 0)
		if s.must(err); total != 1 || pairs[0].ID != p.ID || pairs[0].First.ID != min(here.ID, there.ID) || pairs[0].CreatedBy != ada.Name {
			t.Errorf("%d: %+v", total, pairs)
		}
		s.must(s.Unpair(t.Context(), ada, p.ID))
		if err := s.Unpair(t.Context(), ada, p.ID); !fault.Is(err, fault.Missing) {
			t.Errorf("a second end: %v", err)
		}
		want := fmt.Sprintf("[%s product_pair.create %s %s product_pair.delete %s]", ada.Name, p.ID, ada.Name, p.ID)
		if fmt.Sprint(s.audited) != want {
			t.Errorf("the audit log: %v", s.audited)
		}
	})
}
