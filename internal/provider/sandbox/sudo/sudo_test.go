package sudo

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
	plug "github.com/kobo-waas/kobo/internal/provider/sudo"
)

// opened is a sandbox in which only the simulated Sudo runs.
type opened struct {
	*Issuer
	server *sandbox.Sandbox
}

func open(t *testing.T, cfg sandbox.Config) opened {
	t.Helper()
	i := &Issuer{}
	return opened{i, sandboxtest.Open(t, cfg, i)}
}

// connect returns a Sudo plug that sends its requests to s through a providertest.Wire.
func connect(t *testing.T, s opened) (*plug.Plug, *providertest.Wire) {
	t.Helper()
	wire := providertest.NewWire(t, s.server.Handler())
	cfg := s.PlugConfig(wire.URL)
	cfg.PayDeadline, cfg.ReadDeadline = providertest.Deadlines(t)
	p, err := plug.New(cfg, s.Clock)
	if err != nil {
		t.Fatal(err)
	}
	return p, wire
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Config{})
	providertest.RunIssuer(t, func(t *testing.T) providertest.IssuerWorld {
		p, wire := connect(t, s)
		return providertest.IssuerWorld{
			Issuer: p, Wire: wire, Now: s.Clock.Now, Keys: []string{apiKey, webhookHeader},
			Paths: providertest.IssuerPaths{
				Holders: path + "/customers", Create: path + "/cards", Cards: path + "/cards/",
				Transfer: path + "/accounts/transfer", Transfers: path + "/accounts/",
			},
			Executed: func(t *testing.T, reference string) int { return executions(t, s, reference) },
			NextCard: func(t *testing.T, story string) {
				if err := s.Set(t.Context(), nextCard, story); err != nil {
					t.Fatal(err)
				}
			},
			Notice: func(t *testing.T, cardID string) (http.Header, []byte) { return notify(t, s, cardID) },
		}
	})
}

func executions(t *testing.T, s opened, reference string) int {
	t.Helper()
	return sandboxtest.Executions(t, s.requests, reference)
}

// notify makes the simulated Sudo send a notification about a card, and returns that notification.
func notify(t *testing.T, s opened, cardID string) (header http.Header, body []byte) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body) // an incomplete body would fail the test later
	}))
	defer server.Close()
	status, said := sandboxtest.NewCaller(t, s.server.Handler()).Do("POST", "/sandbox/card-notice", map[string]any{
		"callback": server.URL, "type": "transaction.created", "providerCardId": cardID, "id": "66a0000000000000000000c1", "amount": 250,
	})
	if status != http.StatusOK {
		t.Fatalf("HTTP %d %v", status, said)
	}
	return header, body
}

// created makes a card for a new customer.
func created(t *testing.T, p *plug.Plug) provider.CardAnswer {
	t.Helper()
	holder, err := p.OpenCardholder(t.Context(), provider.Cardholder{
		FirstName: "Ada", LastName: "Obi", Email: "ada@example.test", Phone: "08012345678",
		Address: provider.CardholderAddress{Line1: "1 Marina", City: "Lagos", State: "Lagos"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.CreateCard(t.Context(), provider.CardOrder{Reference: id.New(), Cardholder: holder, Type: "virtual", Brand: "Verve", Currency: "NGN"})
}

// If a client sends the same transfer twice, the simulated Sudo moves the money only one time.
func TestARepeatedTransferPaysOnce(t *testing.T) {
	s := open(t, sandbox.Config{})
	p, _ := connect(t, s)
	made := created(t, p)
	f := provider.CardFunding{Reference: id.New(), Account: made.Card.Account, Amount: 100 * money.Naira, Since: s.Clock.Now()}
	first, second := p.FundCard(t.Context(), f), p.FundCard(t.Context(), f)
	if first.Outcome != provider.Confirmed || second.Outcome != provider.Unknown || second.Code != "duplicate" {
		t.Errorf("%+v, then %+v", first, second)
	}
	c, err := cards.One(t.Context(), s, "id = $1", made.Card.ID)
	if err != nil || c.balance != f.Amount {
		t.Errorf("the card holds %s (%v)", c.balance, err)
	}
	if words, err := p.SendDefaultPIN(t.Context(), made.Card.ID); err != nil || words != "PIN sent successfully." {
		t.Errorf("%q, %v", words, err)
	}
	if token, err := p.CardToken(t.Context(), made.Card.ID); err != nil || token.ExpiresIn != 2*time.Minute {
		t.Errorf("%v, %v", token, err)
	}
}

// The balance of a canceled card goes back to the client's account once, and the list shows it.
func TestATerminatedCardGivesItsBalanceBack(t *testing.T) {
	s := open(t, sandbox.Config{})
	p, _ := connect(t, s)
	made := created(t, p)
	f := provider.CardFunding{Reference: id.New(), Account: made.Card.Account, Amount: 100 * money.Naira, Since: s.Clock.Now()}
	p.FundCard(t.Context(), f)
	before, err := s.Balance(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := p.CardBalance(t.Context(), made.Card.ID); err != nil || left != f.Amount {
		t.Errorf("left %s, %v", left, err)
	}
	for _, to := range []provider.CardStatus{provider.CardInactive, provider.CardActive, provider.CardCanceled, provider.CardCanceled} {
		if a := p.SetCardStatus(t.Context(), made.Card.ID, to, "lost"); a.Outcome != provider.Confirmed {
			t.Errorf("%s: %+v", to, a)
		}
	}
	if a := p.SetCardStatus(t.Context(), made.Card.ID, provider.CardActive, ""); a.Outcome != provider.Rejected {
		t.Errorf("a terminated card came back: %+v", a)
	}
	after, err := s.Balance(t.Context(), account)
	if err != nil || after-before != f.Amount {
		t.Errorf("%s came back, %v", after-before, err)
	}
	if back, listed, err := p.ReturnedBalance(t.Context(), made.Card.ID, s.Clock.Now()); err != nil || !listed || back != f.Amount {
		t.Errorf("listed %s %t, %v", back, listed, err)
	}
}

// mannered makes a card at a Sudo with these manners. The plug does not take Sudo's list for complete.
func mannered(t *testing.T, manners map[string]any) (opened, *plug.Plug, provider.CardAnswer) {
	t.Helper()
	s := open(t, sandbox.Config{})
	if status, said := sandboxtest.NewCaller(t, s.server.Handler()).Do("POST", "/sandbox/card-manners", manners); status != http.StatusOK {
		t.Fatalf("HTTP %d %v", status, said)
	}
	wire := providertest.NewWire(t, s.server.Handler())
	cfg := s.PlugConfig(wire.URL)
	cfg.PayDeadline, cfg.ReadDeadline = providertest.Deadlines(t)
	cfg.CompleteList = false
	p, err := plug.New(cfg, s.Clock)
	if err != nil {
		t.Fatal(err)
	}
	return s, p, created(t, p)
}

// Sudo's documentation does not state that a card returns its metadata. Without the metadata the plug
// reports the card without a reference, and never with a wrong one.
func TestACardWithoutItsMetadata(t *testing.T) {
	s, p, made := mannered(t, map[string]any{"noMetadata": true})
	one, err := p.Card(t.Context(), made.Card.ID)
	c, none := cards.One(t.Context(), s, "id = $1", made.Card.ID)
	if made.Outcome != provider.Confirmed || made.Card.Reference != "" || err != nil || one.Reference != "" || none != nil {
		t.Fatalf("%+v, %+v %v %v", made, one, err, none)
	}
	all, err := p.Cards(t.Context(), c.customer)
	if err != nil || len(all) != 1 || all[0].Reference != "" || all[0].CreatedAt.IsZero() {
		t.Errorf("%+v %v", all, err)
	}
}

// A list without our references never proves that a funding was not made. A list in another order is
// read to its end.
func TestAFundingOnAnOddList(t *testing.T) {
	for name, c := range map[string]struct {
		manners map[string]any
		want    provider.Outcome
	}{
		"oldest first":       {map[string]any{"oldest": true}, provider.Confirmed},
		"without references": {map[string]any{"anonymous": true}, provider.Unknown},
	} {
		s, p, made := mannered(t, c.manners)
		var last provider.CardFunding
		for range 3 {
			last = provider.CardFunding{Reference: id.New(), Account: made.Card.Account, Amount: 1010 * money.Naira, Since: s.Clock.Now()}
			p.FundCard(t.Context(), last)
		}
		if a := p.RequeryFunding(t.Context(), last); a.Outcome != c.want || a.Missing {
			t.Errorf("%s: %+v", name, a)
		}
		unsent := last
		unsent.Reference = id.New()
		if a := p.RequeryFunding(t.Context(), unsent); a.Outcome != provider.Unknown || a.Missing {
			t.Errorf("%s: a funding that was not sent: %+v", name, a)
		}
	}
}
