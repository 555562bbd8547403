package sandbox

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
	"github.com/kobo-waas/kobo/internal/provider/sudo"
)

// sudoPlug is Sudo's plug as a client of s.
func sudoPlug(t *testing.T, s *Sandbox) (*sudo.Plug, *providertest.Wire) {
	t.Helper()
	wire := providertest.NewWire(t, s.Handler())
	cfg := s.Sudo(wire.URL)
	cfg.Deadline, cfg.ReadDeadline = time.Second, 2*time.Second
	p, err := sudo.New(cfg, s.clock)
	if err != nil {
		t.Fatal(err)
	}
	return p, wire
}

func TestSudoIssuer(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Hold: 300 * time.Millisecond})
	providertest.RunIssuer(t, func(t *testing.T) providertest.IssuerWorld {
		p, wire := sudoPlug(t, s)
		return providertest.IssuerWorld{
			Issuer: p, Wire: wire, Now: s.clock.Now, Keys: []string{sudoKey, sudoWebhook},
			Paths: providertest.IssuerPaths{
				Holders: sudoPath + "/customers", Create: sudoPath + "/cards", Cards: sudoPath + "/cards/",
				Transfer: sudoPath + "/accounts/transfer", Transfers: sudoPath + "/accounts/",
			},
			Executed: func(t *testing.T, reference string) int { return sudoExecutions(t, s, reference) },
			NextCard: func(t *testing.T, story string) {
				if err := s.set(t.Context(), nextCard, story); err != nil {
					t.Fatal(err)
				}
			},
			Notice: func(t *testing.T, cardID string) (http.Header, []byte) { return sudoNotice(t, s, cardID) },
		}
	})
}

func sudoExecutions(t *testing.T, s *Sandbox, reference string) int {
	t.Helper()
	rows, err := s.sudoLedger(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range rows {
		n += int(r.Executions)
	}
	return n
}

// sudoNotice has the pretend Sudo tell of a card, and is what came.
func sudoNotice(t *testing.T, s *Sandbox, cardID string) (header http.Header, body []byte) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body) // half of it is no notice
	}))
	defer server.Close()
	status, said := byHand(t, s).do("POST", "/sandbox/card-notice", map[string]any{
		"callback": server.URL, "type": "transaction.created", "providerCardId": cardID, "id": "66a0000000000000000000c1", "amount": 250,
	})
	if status != http.StatusOK {
		t.Fatalf("HTTP %d %v", status, said)
	}
	return header, body
}

// However often it is asked to, it pays once.
func TestSudoKeepsItsBooks(t *testing.T) {
	s := open(t, Config{})
	p, _ := sudoPlug(t, s)
	holder, err := p.OpenCardholder(t.Context(), provider.Cardholder{
		FirstName: "Ada", LastName: "Obi", Email: "ada@example.test", Phone: "08012345678",
		Address: provider.CardholderAddress{Line1: "1 Marina", City: "Lagos", State: "Lagos"},
	})
	if err != nil {
		t.Fatal(err)
	}
	made := p.CreateCard(t.Context(), provider.CardOrder{Reference: id.New(), Cardholder: holder, Type: "virtual", Brand: "Verve", Currency: "NGN"})
	f := provider.CardFunding{Reference: id.New(), Account: made.Card.Account, Amount: 100 * money.Naira, Since: s.clock.Now()}
	first, second := p.FundCard(t.Context(), f), p.FundCard(t.Context(), f)
	if first.Outcome != provider.Confirmed || second.Outcome != provider.Unknown || second.Code != "duplicate" {
		t.Errorf("%+v, then %+v", first, second)
	}
	c, err := s.findSudoCard(t.Context(), made.Card.ID)
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
