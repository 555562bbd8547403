package torture

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/money"
)

// devFloat is the opening balance of the first company's account, which kobo dev gives it.
const devFloat = 1_000_000 * money.Naira

// float is the opening balance of each further account, and little that of each third one, so that orders reach its floor. An adjustment by two
// operators books it.
const (
	float  = 500_000 * money.Naira
	little = 3_000 * money.Naira
)

// product is the data bundle that purchases buy.
type product struct {
	category, id string
	price        money.Kobo
}

// world is what a run drives: the companies, the operators and what they buy.
type world struct {
	*recorder
	fleet     *fleet
	by        operators
	companies []*company
	bundle    product
	airtime   string // the category whose airtime purchases buy
	hook      *receiver
	paid      atomic.Int64 // counts the amounts that the bank receives

	copying sync.RWMutex // held for writing while the database is backed up or restored
	gone    []Lost       // under the lock of the recorder

	forgotten atomic.Int64 // companies do not repeat purchases from before this time
	repeating sync.RWMutex // held for reading while a purchase from before the last restore is sent
}

// populate makes the companies of a run, each with a customer, a card and a webhook.
func (w *world) populate(ctx context.Context, first app.Credentials) error {
	w.by = operators{w.fleet, [2]string{first.AdminKey, first.SecondAdminKey}}
	one := &company{
		fleet: w.fleet, reference: first.Reference, key: first.APIKey, pin: first.PIN,
		main: first.SettlementID, number: first.SettlementAccountNumber,
	}
	w.companies = []*company{one}
	if err := w.choose(ctx, one); err != nil {
		return err
	}
	if err := w.pair(ctx); err != nil {
		return err
	}
	two, err := w.add(ctx, "Second Company")
	if err != nil {
		return err
	}
	w.companies = append(w.companies, two)
	for i, c := range w.companies {
		if err := w.equip(ctx, c, i); err != nil {
			return err
		}
	}
	return nil
}

// choose finds the cheapest data bundle, and a network that sells airtime.
func (w *world) choose(ctx context.Context, c *company) error {
	airtime, err := c.categories(ctx, "Airtime")
	if err != nil {
		return err
	}
	data, err := c.categories(ctx, "Data")
	if err != nil {
		return err
	}
	w.airtime = airtime[0]
	for _, category := range data {
		var products []struct {
			CategoryProductID string
			Amount            money.Text
		}
		err := c.data(ctx, http.MethodGet, "/api/v1/vtu/category/"+category+"/products", nil, &products)
		if err != nil || len(products) > 0 {
			if err == nil {
				w.bundle = product{category, products[0].CategoryProductID, money.Kobo(products[0].Amount)}
			}
			return err
		}
	}
	return fmt.Errorf("the sandbox sells no data bundle")
}

// categories returns the categories of a service: at least one.
func (c *company) categories(ctx context.Context, service string) (ids []string, err error) {
	var services []struct{ ServiceID, ServiceName string }
	if err := c.data(ctx, http.MethodGet, "/api/v1/vtu/services", nil, &services); err != nil {
		return nil, err
	}
	for _, s := range services {
		if s.ServiceName != service {
			continue
		}
		var categories []struct{ ServiceCategoryID string }
		if err := c.data(ctx, http.MethodGet, "/api/v1/vtu/service/"+s.ServiceID+"/categories", nil, &categories); err != nil {
			return nil, err
		}
		for _, k := range categories {
			ids = append(ids, k.ServiceCategoryID)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("the sandbox sells nothing of the kind %q", service)
	}
	return ids, nil
}

// add makes a further company with an account that has money.
func (w *world) add(ctx context.Context, name string) (*company, error) {
	c := &company{fleet: w.fleet, pin: "4321"}
	var made struct{ Reference, APIKey string }
	if err := w.by.data(ctx, 0, http.MethodPost, "companies", map[string]string{"name": name}, &made); err != nil {
		return nil, err
	}
	c.reference, c.key = made.Reference, made.APIKey
	own := "companies/" + c.reference
	for _, step := range []struct {
		path string
		body any
	}{
		{"/kyb", map[string]string{"status": "IN_PROGRESS"}},
		{"/kyb", map[string]string{"status": "SUBMITTED"}},
		{"/kyb", map[string]string{"status": "APPROVED"}},
		{"/live", map[string]bool{"live": true}},
		{"/pin", map[string]string{"pin": c.pin}},
	} {
		if err := w.by.data(ctx, 0, http.MethodPost, own+step.path, step.body, nil); err != nil {
			return nil, err
		}
	}
	var err error
	c.main, err = w.account(ctx, c)
	return c, err
}

// account opens a settlement account with money.
func (w *world) account(ctx context.Context, c *company) (int64, error) {
	c.mu.Lock()
	c.nextID++
	name, balance := fmt.Sprintf("account %d", c.nextID), float
	if c.nextID%3 == 0 {
		balance = little
	}
	c.mu.Unlock()
	var made struct{ ID int64 }
	err := c.data(ctx, http.MethodPost, "/api/v1/settlement/accounts", map[string]string{"name": name}, &made, "Idempotency-Key", name)
	if err == nil {
		err = w.adjust(ctx, -1, c, made.ID, balance, "credit", "")
	}
	return made.ID, err
}

// equip gives a company a customer with a bank account and a card, and a webhook.
func (w *world) equip(ctx context.Context, c *company, n int) error {
	var made struct{ ID, CardID, Secret string }
	post := func(path string, body any) error { return c.data(ctx, http.MethodPost, path, body, &made) }
	err := post("/api/v1/webhooks", map[string]string{"url": w.hook.of(c.reference)})
	if err != nil {
		return err
	}
	w.hook.trust(c.reference, made.Secret, w.now())
	c.webhook = made.ID
	for _, kind := range []string{"settlement-account", "virtual-account", "otp"} { // a long run reaches each quota
		err := w.by.data(ctx, 0, http.MethodPost, "companies/"+c.reference+"/quotas", map[string]any{"kind": kind, "most": 0}, nil)
		if err != nil {
			return err
		}
	}
	err = w.by.data(ctx, 0, http.MethodPost, "companies/"+c.reference+"/payout-fees", map[string]any{"bands": []map[string]any{{"from": 0, "flat": payoutFee}}}, nil)
	if err != nil {
		return err
	}
	var so Books
	if err = readEvents(ctx, c, &so); err != nil {
		return err
	}
	c.firstEvent = int64(len(so.Events)) + 1
	err = post("/api/v1/customer/create", map[string]any{
		"firstName": "Ada", "lastName": "Tester", "email": fmt.Sprintf("ada%d@example.com", n), "phoneNumber": "08012345678",
		"bvn": fmt.Sprintf("2221234567%d", n), "address": map[string]string{"line1": "1 Marina", "city": "Lagos", "state": "Lagos"},
	})
	if err != nil {
		return err
	}
	owner := made.ID
	body := map[string]any{"customerId": owner, "otp": "123456", "settlementId": c.main}
	if err = c.data(ctx, http.MethodPost, "/api/v1/customer/generate-account", body, nil); err != nil {
		return err
	}
	var customer struct {
		BankAccount struct{ AccountNumber string }
	}
	if err = c.data(ctx, http.MethodGet, "/api/v1/customer/"+owner, nil, &customer); err != nil {
		return err
	}
	c.customer = customer.BankAccount.AccountNumber
	err = post("/api/v1/card/generate-card", map[string]any{"customerId": owner, "type": "virtual"})
	c.card = made.CardID
	return err
}
