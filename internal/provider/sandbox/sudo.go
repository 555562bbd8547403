package sandbox

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sudo"
)

// The third pretend provider: Sudo, below a path of its own. Its keys are no
// secrets.
const (
	sudoPath    = "/sudo"
	sudoKey     = "sudo-sandbox-key"
	sudoWebhook = "sudo-sandbox-webhook"
	sudoAccount = "66a0000000000000000000d0" // the client's settlement account there
	business    = "66a0000000000000000000b1"
)

// Sudo is the configuration with which the Sudo plug is our client. The
// deadlines are for the caller to set. The list of the pretend one is complete.
func (s *Sandbox) Sudo(baseURL string) sudo.Config {
	return sudo.Config{
		BaseURL: baseURL + sudoPath, VaultURL: baseURL + sudoPath, APIKey: sudoKey, DebitAccount: sudoAccount,
		CompleteList: true, WebhookAuthorization: sudoWebhook,
	}
}

func (s *Sandbox) sudo() http.Handler {
	mux := http.NewServeMux()
	known := func(pattern string, next http.HandlerFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+sudoKey)) != 1 {
				refuse(w, http.StatusUnauthorized, "Invalid token")
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, requestLimit)
			next(w, r)
		})
	}
	known("POST "+sudoPath+"/customers", s.sudoNewCustomer)
	known("POST "+sudoPath+"/cards", s.sudoNewCard)
	known("GET "+sudoPath+"/cards/{id}", s.sudoShowCard)
	// net/http cannot tell cards/customer/{id} from cards/{id}/token by itself.
	known("GET "+sudoPath+"/cards/{id}/{part}", func(w http.ResponseWriter, r *http.Request) {
		switch part := r.PathValue("part"); {
		case r.PathValue("id") == "customer":
			s.sudoListCards(w, r, part)
		case part == "balance":
			s.sudoBalance(w, r)
		case part == "token":
			s.sudoToken(w, r)
		default:
			refuse(w, http.StatusNotFound, "Cannot GET "+r.URL.Path)
		}
	})
	known("PUT "+sudoPath+"/cards/{id}/send-pin", s.sudoSendPIN)
	known("POST "+sudoPath+"/accounts/transfer", s.orLate(s.sudoTransfer))
	known("GET "+sudoPath+"/accounts/{id}/{part}", func(w http.ResponseWriter, r *http.Request) {
		switch part := r.PathValue("part"); {
		case r.PathValue("id") == "transfers":
			s.sudoShowTransfer(w, r, part)
		case part == "transactions":
			s.sudoTransactions(w, r)
		default:
			refuse(w, http.StatusNotFound, "Cannot GET "+r.URL.Path)
		}
	})
	return mux
}

// sudoProblems is Sudo's envelope for fields that break a rule: the message is an
// array.
func sudoProblems(w http.ResponseWriter, property, rule string) {
	write(w, http.StatusBadRequest, map[string]any{
		"statusCode": http.StatusBadRequest, "error": "Bad Request", "message": []any{map[string]any{
			"property": property, "constraints": map[string]string{"check": property + " " + rule},
		}},
	})
}

type sudoCustomer struct {
	Type       string `json:"type"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Phone      string `json:"phoneNumber"`
	Email      string `json:"emailAddress"`
	Individual struct {
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	} `json:"individual"`
	Billing struct {
		Line1   string `json:"line1"`
		City    string `json:"city"`
		State   string `json:"state"`
		Country string `json:"country"`
	} `json:"billingAddress"`
}

func (s *Sandbox) sudoNewCustomer(w http.ResponseWriter, r *http.Request) {
	var c sudoCustomer
	switch err := json.NewDecoder(r.Body).Decode(&c); {
	case err != nil:
		sudoProblems(w, "body", "must be an object")
	case c.Type != "individual" || c.Name == "" || c.Individual.FirstName == "" || c.Individual.LastName == "":
		sudoProblems(w, "individual", "must have a first and a last name")
	case c.Billing.Line1 == "" || c.Billing.City == "" || c.Billing.State == "" || c.Billing.Country != "NG":
		sudoProblems(w, "billingAddress", "must have line1, city, state and the country NG")
	default:
		id := newID()
		if err := s.addSudoCustomer(r.Context(), id, c.Name); err != nil {
			broken(w)
			return
		}
		answer(w, "Customer created successfully.", map[string]any{
			"_id": id, "business": business, "type": c.Type, "name": c.Name, "status": c.Status, "isDeleted": false, "__v": 0,
		})
	}
}

type sudoOrder struct {
	Customer string            `json:"customerId"`
	Type     string            `json:"type"`
	Brand    string            `json:"brand"`
	Number   string            `json:"number"`
	Currency string            `json:"currency"`
	Debit    string            `json:"debitAccountId"`
	Metadata map[string]string `json:"metadata"`
}

var sudoBrands = []string{"Verve", "AfriGo", "MasterCard", "Visa"}

// sudoNewCard is POST /cards. Its story is what /sandbox/next-card has set.
func (s *Sandbox) sudoNewCard(w http.ResponseWriter, r *http.Request) {
	var o sudoOrder
	if json.NewDecoder(r.Body).Decode(&o) != nil {
		sudoProblems(w, "body", "must be an object")
		return
	}
	switch {
	case len(o.Debit) < len(sudoAccount):
		sudoProblems(w, "debitAccountId", "must be longer than or equal to 24 characters")
		return
	case o.Type != "virtual" && o.Type != "physical":
		sudoProblems(w, "type", "must be one of virtual, physical")
		return
	case o.Currency != "NGN":
		s.decline(w, http.StatusBadRequest, o.Currency+" Cards are not available at the moment")
		return
	case o.Type == "virtual" && !slices.Contains(sudoBrands, o.Brand):
		sudoProblems(w, "brand", "must be one of Verve, AfriGo, MasterCard, Visa")
		return
	case o.Type == "physical" && (len(o.Number) < 16 || len(o.Number) > 19 || !digits(o.Number)):
		sudoProblems(w, "number", "must be the number printed on the card")
		return
	}
	ending, err := s.takeNext(r.Context(), nextCard)
	c := newSudoCard(o, clock.Micros(s.clock.Now()))
	if err == nil && c.tell(ending) && ending != definiteNo {
		err = s.addSudoCard(r.Context(), c)
	}
	switch {
	case errors.Is(err, db.ErrNone):
		s.decline(w, http.StatusNotFound, "Customer not found")
	case err != nil:
		broken(w)
	default:
		s.reply(w, r, c.story, o.Brand+" Cards are not available at the moment", func() {
			answer(w, "Card created successfully.", c.record(false))
		})
	}
}

func newSudoCard(o sudoOrder, now int64) sudoCard {
	front, back := "506321", newID()[:4]
	if o.Number != "" {
		front, back = o.Number[:6], o.Number[len(o.Number)-4:]
		o.Brand = "Verve"
	}
	for i, c := range []byte(back) {
		back = back[:i] + string('0'+c%10) + back[i+1:]
	}
	return sudoCard{
		id: newID(), customer: o.Customer, account: newID(), kind: o.Type, brand: o.Brand, currency: o.Currency,
		pan: front + "*********" + back, reference: o.Metadata["reference"], state: "active", createdAt: now,
	}
}

// record is a card as the answers show it: bare ids when it was just made,
// objects afterwards.
func (c sudoCard) record(objects bool) map[string]any {
	at := clock.Text(clock.Time(c.createdAt))
	out := map[string]any{
		"_id": c.id, "business": business, "customer": c.customer, "account": c.account, "fundingSource": "66a0000000000000000000e1",
		"type": c.kind, "brand": c.brand, "currency": c.currency, "maskedPan": c.pan,
		"expiryMonth": "08", "expiryYear": strconv.Itoa(clock.Time(c.createdAt).Year() + 3), "status": c.state,
		"is2FAEnabled": false, "isDefaultPINChanged": false, "disposable": false, "refundAccount": nil, "isDeleted": false,
		"metadata": map[string]any{"reference": c.reference}, "createdAt": at, "updatedAt": at,
	}
	if objects {
		out["customer"] = map[string]any{"_id": c.customer}
		out["account"] = map[string]any{
			"_id": c.account, "type": "wallet", "currency": c.currency, "currentBalance": c.balance, "availableBalance": c.balance,
		}
	}
	return out
}

// sudoOne finds the card of the path, or answers that there is none.
func (s *Sandbox) sudoOne(w http.ResponseWriter, r *http.Request) (sudoCard, bool) {
	c, err := s.findSudoCard(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, db.ErrNone):
		refuse(w, http.StatusNotFound, "Card not found")
	case err != nil:
		broken(w)
	}
	return c, err == nil
}

func (s *Sandbox) sudoShowCard(w http.ResponseWriter, r *http.Request) {
	if c, ok := s.sudoOne(w, r); ok {
		answer(w, "Card fetched successfully.", c.record(true))
	}
}

func (s *Sandbox) sudoBalance(w http.ResponseWriter, r *http.Request) {
	if c, ok := s.sudoOne(w, r); ok {
		answer(w, "Balance fetched successfully.", map[string]money.Kobo{"currentBalance": c.balance, "availableBalance": c.balance})
	}
}

func (s *Sandbox) sudoListCards(w http.ResponseWriter, r *http.Request, customer string) {
	p, _, wrong := listed(r)
	if wrong != "" {
		sudoProblems(w, "page", wrong)
		return
	}
	cards, total, err := s.sudoCards(r.Context(), customer, p)
	if err != nil {
		broken(w)
		return
	}
	rows := make([]any, 0, len(cards))
	for _, c := range cards {
		rows = append(rows, c.record(true))
	}
	answerPage(w, "Cards fetched successfully.", rows, total, p)
}

// tokenLife of a card token, in the real clock: it is for a browser.
const cardTokenLife = 2 * time.Minute

func (s *Sandbox) sudoToken(w http.ResponseWriter, r *http.Request) {
	c, ok := s.sudoOne(w, r)
	if !ok {
		return
	}
	now := time.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"_id": c.id, "type": "CARDTOKEN", "iat": now.Unix(), "exp": now.Add(cardTokenLife).Unix(),
	}).SignedString(s.secret)
	if err != nil {
		broken(w)
		return
	}
	answer(w, "Card token generated successfully.", map[string]string{"token": token})
}

func (s *Sandbox) sudoSendPIN(w http.ResponseWriter, r *http.Request) {
	if c, ok := s.sudoOne(w, r); ok && c.state == "active" {
		write(w, http.StatusOK, map[string]any{"statusCode": http.StatusOK, "message": "PIN sent successfully."})
	} else if ok {
		s.decline(w, http.StatusBadRequest, "The card is not active")
	}
}
