package sandbox

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/sudo"
)

// sudoPlug is Sudo's plug as a client of s.
func sudoPlug(t *testing.T, s *Sandbox) (*sudo.Plug, *providertest.Wire) {
	t.Helper()
	wire := providertest.NewWire(t, s.Handler())
	cfg := s.Sudo(wire.URL)
	cfg.Deadline, cfg.ReadDeadline = time.Second, 3*time.Second
	p, err := sudo.New(cfg, s.clock)
	if err != nil {
		t.Fatal(err)
	}
	return p, wire
}

func cardOf(t *testing.T, p *sudo.Plug) provider.CardOrder {
	t.Helper()
	holder, err := p.OpenCardholder(t.Context(), provider.Cardholder{
		FirstName: "Ada", LastName: "Obi", Email: "ada@example.test", Phone: "08012345678",
		Address: provider.CardholderAddress{Line1: "1 Marina", City: "Lagos", State: "Lagos"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return provider.CardOrder{Reference: id.New(), Cardholder: holder, Type: "virtual", Brand: "Verve", Currency: "NGN"}
}

// The last two naira digits of a funding tell its story (completion.md §5).
func TestSudoStories(t *testing.T) {
	s := open(t, Config{Hold: 2 * time.Second})
	p, wire := sudoPlug(t, s)
	made := p.CreateCard(t.Context(), cardOf(t, p))
	if made.Outcome != provider.Confirmed || made.Card.Account == "" || made.Card.Status != "active" {
		t.Fatalf("%+v", made)
	}
	for naira, want := range map[int64]struct {
		first      provider.Outcome
		later      []string
		executions int64
	}{
		5000: {provider.Confirmed, []string{"confirmed"}, 1},
		5001: {provider.Rejected, []string{"missing"}, 0},
		5002: {provider.Unknown, []string{"confirmed"}, 1},
		5003: {provider.Unknown, []string{"missing", "missing"}, 0},
		5004: {provider.Unknown, []string{"confirmed"}, 1},
		5005: {provider.Unknown, []string{"missing"}, 0},
		5006: {provider.Unknown, []string{"unknown", "confirmed"}, 1},
		5007: {provider.Unknown, []string{"unknown", "rejected"}, 0},
		5:    {provider.Confirmed, []string{"confirmed"}, 1},
	} {
		f := provider.CardFunding{
			Reference: id.New(), Account: made.Card.Account, Amount: money.Kobo(naira) * money.Naira, Since: s.clock.Now(),
		}
		a := p.FundCard(t.Context(), f)
		if a.Outcome != want.first {
			t.Errorf("%d: %+v, want %s", naira, a, want.first)
		}
		f.Issued = a.Reference
		for i, word := range want.later {
			a := p.RequeryFunding(t.Context(), f)
			got := a.Outcome.String()
			if a.Missing {
				got = "missing"
			}
			if got != word {
				t.Errorf("%d, requery %d: %s (%+v), want %s", naira, i+1, got, a, word)
			}
		}
		rows, err := s.sudoLedger(t.Context(), f.Reference)
		var n int64
		for _, r := range rows {
			n += r.Executions
		}
		if err != nil || n != want.executions {
			t.Errorf("%d: executed %d times (%v), want %d", naira, n, err, want.executions)
		}
	}
	if n := wire.Count("POST /sudo/accounts/transfer"); n != 9 {
		t.Errorf("%d transfers were sent, want 9", n)
	}
}

func TestSudoNeverPaysAReferenceTwice(t *testing.T) {
	s := open(t, Config{})
	p, _ := sudoPlug(t, s)
	made := p.CreateCard(t.Context(), cardOf(t, p))
	f := provider.CardFunding{Reference: id.New(), Account: made.Card.Account, Amount: 100 * money.Naira, Since: s.clock.Now()}
	first, second := p.FundCard(t.Context(), f), p.FundCard(t.Context(), f)
	if first.Outcome != provider.Confirmed || second.Outcome != provider.Unknown || second.Code != "duplicate" {
		t.Errorf("%+v, then %+v", first, second)
	}
	c, err := s.findSudoCard(t.Context(), made.Card.ID)
	if err != nil || c.balance != f.Amount {
		t.Errorf("the card holds %s (%v)", c.balance, err)
	}
}

// A card whose answer was lost is found among the cardholder's, by our
// reference.
func TestSudoCardWhoseAnswerWasLost(t *testing.T) {
	s := open(t, Config{Hold: 2 * time.Second})
	p, _ := sudoPlug(t, s)
	for story, found := range map[string]bool{doneAnswerLost: true, undoneAnswerLost: false, doneFault: true, undoneFault: false} {
		if err := s.set(t.Context(), "next card", story); err != nil {
			t.Fatal(err)
		}
		order := cardOf(t, p)
		if a := p.CreateCard(t.Context(), order); a.Outcome != provider.Unknown {
			t.Errorf("%s: %+v", story, a)
		}
		cards, err := p.Cards(t.Context(), order.Cardholder)
		if err != nil || (len(cards) == 1 && cards[0].Reference == order.Reference) != found {
			t.Errorf("%s: %+v, %v", story, cards, err)
		}
	}
}

func TestSudoShowsTokensAndSendsPINs(t *testing.T) {
	s := open(t, Config{})
	p, _ := sudoPlug(t, s)
	made := p.CreateCard(t.Context(), cardOf(t, p))
	token, err := p.CardToken(t.Context(), made.Card.ID)
	if err != nil || token.ExpiresIn != 2*time.Minute {
		t.Errorf("%v, %v", token, err)
	}
	if words, err := p.SendDefaultPIN(t.Context(), made.Card.ID); err != nil || words != "PIN sent successfully." {
		t.Errorf("%q, %v", words, err)
	}
	if _, err := p.SendDefaultPIN(t.Context(), "nobody's"); err == nil {
		t.Error("a PIN was sent for no card")
	}
	order := cardOf(t, p)
	order.Currency = "USD"
	if a := p.CreateCard(t.Context(), order); a.Outcome != provider.Rejected {
		t.Errorf("%+v", a)
	}
}
