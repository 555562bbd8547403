package providertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// IssuerWorld is the test setup of a card issuer: its plug, the simulated issuer, and the wire
// between them. The issuer guarantees that its lists are complete. The last two naira digits of a
// funding choose a test scenario ("story") of completion.md §5.
type IssuerWorld struct {
	Issuer provider.Issuer
	Wire   *Wire
	Paths  IssuerPaths
	Now    func() time.Time
	// Executed counts how often the issuer carried out a funding, whatever its replies stated.
	Executed func(t *testing.T, reference string) int
	// NextCard sets the test scenario for the next order of a card.
	NextCard func(t *testing.T, story string)
	// Notice returns a notification of the issuer about a card.
	Notice func(t *testing.T, cardID string) (http.Header, []byte)
	// Keys are secrets that must not appear in any error.
	Keys []string
}

// IssuerPaths holds the URL paths of the issuer's calls. A path that ends with a slash matches all
// paths below it.
type IssuerPaths struct {
	Holders, Create, Cards string // requests about existing cards go to paths below Cards
	Transfer, Transfers    string // requests about fundings go to paths below Transfers
}

// Pan is the card number that is printed on a physical card.
const Pan = "5061230000000000001"

// RunIssuer runs all tests of an issuer's plug. Each test creates a new IssuerWorld.
func RunIssuer(t *testing.T, newWorld func(t *testing.T) IssuerWorld) {
	for manner, knowsID := range map[string]bool{"fundings by the issuer's id": true, "fundings by our reference": false} {
		t.Run(manner, func(t *testing.T) {
			runPayments(t, func(t *testing.T) trade {
				w := newWorld(t)
				return trade{
					wire: w.Wire, paying: w.Paths.Transfer, asking: w.Paths.Transfers, keyed: true, executed: w.Executed,
					order: func(t *testing.T, ending string) order { return w.order(t, ending, knowsID) },
				}
			})
		})
	}
	t.Run("fundings that cannot be", func(t *testing.T) { oddFundings(t, newWorld(t)) })
	t.Run("answers to fundings", func(t *testing.T) { oddAnswers(t, newWorld) })
	t.Run("cards", func(t *testing.T) { cards(t, newWorld(t)) })
	t.Run("cards by accident", func(t *testing.T) { cardAccidents(t, newWorld) })
	t.Run("questions by accident", func(t *testing.T) { cardQuestions(t, newWorld) })
	t.Run("notices", func(t *testing.T) { cardNotices(t, newWorld(t)) })
	t.Run("secrets", func(t *testing.T) { issuerSecrets(t, newWorld(t)) })
}

// holder registers a new customer and returns the issuer's id.
func (w IssuerWorld) holder(t *testing.T) string {
	t.Helper()
	id, err := w.Issuer.OpenCardholder(context.Background(), somebody())
	if err != nil || id == "" {
		t.Fatalf("a cardholder: %q, %v", id, err)
	}
	return id
}

func somebody() provider.Cardholder {
	return provider.Cardholder{
		FirstName: "Ada", LastName: "Obi", Email: "ada@example.test", Phone: "08012345678",
		Address: provider.CardholderAddress{Line1: "1 Marina", City: "Lagos", State: "Lagos", Country: "NG"},
	}
}

// virtual returns an order for a virtual card of a new customer.
func (w IssuerWorld) virtual(t *testing.T) provider.CardOrder {
	return provider.CardOrder{Reference: id.New(), Cardholder: w.holder(t), Type: "virtual", Brand: "Verve", Currency: "NGN"}
}

func (w IssuerWorld) card(t *testing.T) provider.IssuedCard {
	t.Helper()
	a := w.Issuer.CreateCard(context.Background(), w.virtual(t))
	check(t, "a card", a.Answer, done)
	return a.Card
}

func (w IssuerWorld) funding(t *testing.T, naira int64) provider.CardFunding {
	return provider.CardFunding{
		Reference: id.New(), Account: w.card(t).Account, Amount: money.Kobo(naira) * money.Naira, Since: w.Now(),
	}
}

// order returns a funding whose naira amount ends with the digits ending. If knowsID is true and
// the reply contained the issuer's id, the requery asks by that id. Otherwise the requery asks by
// our reference.
func (w IssuerWorld) order(t *testing.T, ending string, knowsID bool) order {
	naira := int64(5000)
	for place, digit := range []int64{10, 1} {
		naira += int64(ending[place]-'0') * digit
	}
	f, issued := w.funding(t, naira), make(chan string, 1)
	return order{
		reference: f.Reference,
		pay: func(ctx context.Context) provider.Answer {
			a := w.Issuer.FundCard(ctx, f)
			if knowsID && a.Reference != "" {
				select {
				case issued <- a.Reference:
				default:
				}
			}
			return a
		},
		ask: func(ctx context.Context) provider.Answer {
			asked := f
			select {
			case asked.Issued = <-issued:
				issued <- asked.Issued
			default:
			}
			return w.Issuer.RequeryFunding(ctx, asked)
		},
	}
}

func oddFundings(t *testing.T, w IssuerWorld) {
	ctx := context.Background()
	nobodys := w.funding(t, 5000)
	nobodys.Account = "66a0000000000000000000ff"
	check(t, "an account that nobody has", w.Issuer.FundCard(ctx, nobodys), refused)
	check(t, "asked for", w.Issuer.RequeryFunding(ctx, nobodys), missing)
	never := w.funding(t, 5000)
	check(t, "never sent", w.Issuer.RequeryFunding(ctx, never), missing)
	never.Issued = "66a0000000000000000000fe"
	check(t, "never sent, by an id that is none", w.Issuer.RequeryFunding(ctx, never), missing)

	paid := w.funding(t, 5000)
	a := w.Issuer.FundCard(ctx, paid)
	check(t, "paid", a, done)
	for _, issued := range []string{"", a.Reference} {
		other := paid
		other.Issued, other.Amount = issued, paid.Amount+1
		check(t, "of another amount", w.Issuer.RequeryFunding(ctx, other), unknown)
		other = w.funding(t, 5000)
		other.Issued = issued
		check(t, "another's, by the id of this one", w.Issuer.RequeryFunding(ctx, other), missing)
	}
}

// oddAnswers proves that a response with HTTP 200 does not by itself mean success.
func oddAnswers(t *testing.T, newWorld func(t *testing.T) IssuerWorld) {
	for name, body := range map[string]string{
		"a fault inside":                  `{"statusCode":500,"message":"oops"}`,
		"an error inside":                 `{"error":"Bad Gateway","message":"oops"}`,
		"an error that is an object":      `{"statusCode":200,"error":{"code":7},"data":{}}`,
		"the data is a sentence":          `{"statusCode":200,"data":"done"}`,
		"the data is a list":              `{"statusCode":200,"data":[]}`,
		"the status is no text":           `{"statusCode":200,"data":{"_id":"1","status":{}}}`,
		"the code is no text":             `{"statusCode":200,"responseCode":["00"],"data":{}}`,
		"the code in the data is no text": `{"statusCode":200,"data":{"responseCode":{},"status":"Completed"}}`,
		"the status code is no number":    `{"statusCode":{},"data":{}}`,
		"a list":                          `[{"statusCode":200}]`,
		"null":                            `null`,
		"two answers":                     `{"statusCode":200,"data":{}}{"statusCode":200,"data":{}}`,
		"a word nobody knows":             `{"statusCode":200,"data":{"_id":"1","status":"odd"}}`,
		"a yes and a no":                  `{"statusCode":400,"responseCode":"00","message":"odd"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Wire.Plan(on(w.Paths.Transfer), 99, DoesAndSays(200, body))
			o := w.order(t, "88", false)
			check(t, "pay", o.pay(context.Background()), unknown)
			check(t, "asked", o.ask(context.Background()), done)
		})
	}
	w := newWorld(t)
	w.Wire.Plan(on(w.Paths.Transfer), 1, Says(200, `{"statusCode":400,"message":"no"}`))
	o := w.order(t, "88", false)
	check(t, "a no inside HTTP 200", o.pay(context.Background()), refused)
	check(t, "asked", o.ask(context.Background()), missing)
}

// cardNotices proves that the plug accepts only notifications that the issuer sent.
func cardNotices(t *testing.T, w IssuerWorld) {
	c := w.card(t)
	header, body := w.Notice(t, c.ID)
	n, err := w.Issuer.ParseCardNotice(header, body)
	if err != nil || n.Kind != provider.CardActivity || n.Card != c.ID || n.ID == "" || n.Word == "" || len(n.Reply) == 0 {
		t.Errorf("%+v, %v", n, err)
	}
	for _, bad := range []http.Header{nil, {"Authorization": {""}}, {"Authorization": {"Bearer x"}}, {"Authorization": {w.Keys[0]}}} {
		for _, sent := range [][]byte{body, nil, []byte(`{`)} {
			if _, err := w.Issuer.ParseCardNotice(bad, sent); !errors.Is(err, provider.ErrForged) {
				t.Errorf("forged: %v", err)
			}
		}
	}
	for _, odd := range []string{``, `{`, `[]`, `null`, `{}`, `{"type":7}`, `{"_id":{},"type":"transaction.created","data":[]}`} {
		if n, err := w.Issuer.ParseCardNotice(header, []byte(odd)); err == nil || errors.Is(err, provider.ErrForged) {
			t.Errorf("%s: %+v, %v", odd, n, err)
		}
	}
}

// issuerSecrets proves that no Answer and no error contains a key or a card number. This holds even
// if the issuer's message contains the card number.
func issuerSecrets(t *testing.T, w IssuerWorld) {
	ctx, c := context.Background(), w.card(t)
	o := w.virtual(t)
	o.Type, o.Number = "physical", secret.NewText(Pan)
	f := w.funding(t, 5000)
	shown := func() string {
		created := w.Issuer.CreateCard(ctx, o)
		_, card := w.Issuer.Card(ctx, c.ID)
		_, list := w.Issuer.Cards(ctx, o.Cardholder)
		_, token := w.Issuer.CardToken(ctx, c.ID)
		_, pin := w.Issuer.SendDefaultPIN(ctx, c.ID)
		_, holder := w.Issuer.OpenCardholder(ctx, somebody())
		out := fmt.Sprintf("%+v %+v %+v %+v", o, created, w.Issuer.FundCard(ctx, f), w.Issuer.RequeryFunding(ctx, f))
		for _, err := range []error{card, list, token, pin, holder} {
			wantError(t, "in trouble", err)
			out += fmt.Sprintf(" %v %+v", err, err)
		}
		return out
	}
	all := func(*http.Request) bool { return true }
	w.Wire.Plan(all, 7, Says(400, `{"statusCode":400,"message":"card `+Pan+` of ada@example.test, 5061 2300 0000 0000 001"}`))
	said := shown()
	w.Wire.Cut()
	said += shown()
	for _, key := range append(w.Keys, Pan, "5061 23", "ada@") {
		if strings.Contains(said, key) {
			t.Errorf("%q shows in %s", key, said)
		}
	}
}
