package sudo

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type customerRequest struct {
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

// newCustomer handles POST /customers.
func (i *Issuer) newCustomer(w http.ResponseWriter, r *http.Request, c customerRequest) {
	switch {
	case c.Type != "individual" || c.Name == "" || c.Individual.FirstName == "" || c.Individual.LastName == "":
		refuseField(w, "individual", "must have a first and a last name")
	case c.Billing.Line1 == "" || c.Billing.City == "" || c.Billing.State == "" || c.Billing.Country != "NG":
		refuseField(w, "billingAddress", "must have line1, city, state and the country NG")
	default:
		v := customer{books.NewID(), c.Name}
		i.Finish(w, customers.Insert(r.Context(), i, v), func() {
			books.Answer(w, "Customer created successfully.", map[string]any{
				"_id": v.id, "business": business, "type": c.Type, "name": c.Name, "status": c.Status, "isDeleted": false, "__v": 0,
			})
		})
	}
}

type cardRequest struct {
	Customer string `json:"customerId"`
	Type     string `json:"type"`
	Brand    string `json:"brand"`
	Number   string `json:"number"`
	Currency string `json:"currency"`
	Debit    string `json:"debitAccountId"`
	Metadata string `json:"metadata"`
}

var brands = []string{"Verve", "AfriGo", "MasterCard", "Visa"}

// newCard handles POST /cards. A request to /sandbox/next-card chooses the story (test scenario) in
// advance.
func (i *Issuer) newCard(w http.ResponseWriter, r *http.Request, o cardRequest) {
	switch {
	case len(o.Debit) < len(account):
		refuseField(w, "debitAccountId", "must be longer than or equal to 24 characters")
		return
	case o.Type != "virtual" && o.Type != "physical":
		refuseField(w, "type", "must be one of virtual, physical")
		return
	case o.Currency != "NGN":
		i.Decline(w, http.StatusBadRequest, o.Currency+" Cards are not available at the moment")
		return
	case o.Type == "virtual" && !slices.Contains(brands, o.Brand):
		refuseField(w, "brand", "must be one of Verve, AfriGo, MasterCard, Visa")
		return
	case o.Type == "physical" && (len(o.Number) < 16 || len(o.Number) > 19 || !books.IsDigits(o.Number)):
		refuseField(w, "number", "must be the number printed on the card")
		return
	}
	var story books.Story
	ending, err := i.TakeNext(r.Context(), nextCard)
	m, failed := i.manners(r.Context())
	err = errors.Join(err, failed)
	if m.NoMetadata {
		o.Metadata = ""
	}
	c := o.card(i.Now())
	if err == nil && story.Begin(ending) && ending != books.DefiniteNo {
		if _, err = customers.One(r.Context(), i, "id = $1", c.customer); err == nil {
			err = cards.Insert(r.Context(), i, c)
		}
	}
	i.Finish(w, books.OrNo(err, http.StatusNotFound, "Customer not found"), func() {
		i.Reply(w, r, story, o.Brand+" Cards are not available at the moment", func() {
			books.Answer(w, "Card created successfully.", c.record())
		})
	})
}

func (r cardRequest) card(now int64) card {
	front, back := "506321", books.NewID()[:4]
	if r.Number != "" {
		front, back = r.Number[:6], r.Number[len(r.Number)-4:]
		r.Brand = "Verve"
	}
	for i, c := range []byte(back) {
		back = back[:i] + string('0'+c%10) + back[i+1:]
	}
	return card{
		id: books.NewID(), customer: r.Customer, account: books.NewID(), kind: r.Type, brand: r.Brand, currency: r.Currency,
		pan: front + "*********" + back, reference: r.Metadata, state: "active", createdAt: now,
	}
}

// record returns a new card as the response to its order shows it, with plain ids.
func (c card) record() map[string]any {
	at := books.Text(c.createdAt)
	return map[string]any{
		"_id": c.id, "business": business, "customer": c.customer, "account": c.account, "fundingSource": "66a0000000000000000000e1",
		"type": c.kind, "brand": c.brand, "currency": c.currency, "maskedPan": c.pan,
		"expiryMonth": "08", "expiryYear": strconv.Itoa(clock.Time(c.createdAt).Year() + 3), "status": c.state,
		"is2FAEnabled": false, "isDefaultPINChanged": false, "disposable": false, "refundAccount": nil, "isDeleted": false,
		"metadata": c.reference, "createdAt": at, "updatedAt": at,
	}
}

// whole returns a card as all later responses show it, with objects in place of some ids.
func (c card) whole() map[string]any {
	out := c.record()
	out["customer"] = map[string]any{"_id": c.customer}
	out["account"] = map[string]any{
		"_id": c.account, "type": "wallet", "currency": c.currency, "currentBalance": c.balance, "availableBalance": c.balance,
	}
	return out
}

// find returns the card whose id is in the path. If the card cannot be read, find sends an error
// response and returns false.
func (i *Issuer) find(w http.ResponseWriter, r *http.Request) (card, bool) {
	c, err := cards.One(r.Context(), i, "id = $1", r.PathValue("id"))
	switch {
	case errors.Is(err, db.ErrNone):
		books.Refuse(w, http.StatusNotFound, "Card not found")
	case err != nil:
		books.Fail(w)
	}
	return c, err == nil
}

func (i *Issuer) showCard(w http.ResponseWriter, r *http.Request) {
	if c, ok := i.find(w, r); ok {
		books.Answer(w, "Card fetched successfully.", c.whole())
	}
}

// listCards handles GET /cards/customer/{id}, and GET /cards for the cards of all customers. It lists
// the newest card first.
func (i *Issuer) listCards(w http.ResponseWriter, r *http.Request) {
	p, _, err := books.ReadPage(r)
	if err != nil {
		refuseField(w, "page", err.Error())
		return
	}
	list, total, err := cards.Page(r.Context(), i, p, "$1 = '' OR customer = $1", "created_at DESC, id", r.PathValue("part"))
	i.Finish(w, err, func() { books.AnswerPage(w, "Cards fetched successfully.", list, card.whole, total, p) })
}

// tokenLife is the lifetime of a card token. It is measured in real time, because a browser checks
// it.
const tokenLife = 2 * time.Minute

func (i *Issuer) newToken(w http.ResponseWriter, r *http.Request) {
	c, ok := i.find(w, r)
	if !ok {
		return
	}
	now := time.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"_id": c.id, "type": "CARDTOKEN", "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
	}).SignedString(i.Secret)
	i.Finish(w, err, func() { books.Answer(w, "Card token generated successfully.", map[string]string{"token": token}) })
}

func (i *Issuer) sendPIN(w http.ResponseWriter, r *http.Request) {
	if c, ok := i.find(w, r); ok && c.state == "active" {
		books.Write(w, http.StatusOK, map[string]any{"statusCode": http.StatusOK, "message": "PIN sent successfully."})
	} else if ok {
		i.Decline(w, http.StatusBadRequest, "The card is not active")
	}
}

type statusRequest struct {
	Status string `json:"status"`
	Reason string `json:"cancellationReason"`
	Refund string `json:"creditAccountId"`
}

// setStatus handles PUT /cards/{id}. A canceled card stays canceled, and its balance goes back to the
// client's settlement account.
func (i *Issuer) setStatus(w http.ResponseWriter, r *http.Request, req statusRequest) {
	switch c, ok := i.find(w, r); {
	case !ok:
	case req.Status != "active" && req.Status != "inactive" && req.Status != canceled:
		refuseField(w, "status", "must be one of active, inactive, canceled")
	case req.Status == canceled && (req.Reason == "" || req.Refund != account):
		refuseField(w, "cancellationReason", "and creditAccountId are required for canceled")
	case c.state == canceled && req.Status != canceled:
		i.Decline(w, http.StatusBadRequest, "The card was terminated")
	default:
		c, err := i.change(r.Context(), c.id, req.Status)
		i.Finish(w, err, func() { books.Answer(w, "Card updated successfully.", c.record()) })
	}
}

func (i *Issuer) showBalance(w http.ResponseWriter, r *http.Request) {
	if c, ok := i.find(w, r); ok {
		books.Answer(w, "Card balance fetched successfully.", map[string]any{"currentBalance": c.balance, "availableBalance": c.balance})
	}
}
