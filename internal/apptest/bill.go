package apptest

import (
	"net/http"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/money"
)

// Routes sets which biller sells each kind of product.
func Routes(text string) Option { return func(c *app.Config) { c.VTU.Routes = text } }

// Category is a vendor in the catalogue.
type Category struct {
	ServiceCategoryID, ServiceCategoryName string
}

// Categories returns the vendors of the service with this name.
func (c *Client) Categories(service string) []Category {
	c.t.Helper()
	var services []struct{ ServiceID, ServiceName string }
	c.Data("/api/v1/vtu/services", &services)
	for _, s := range services {
		if s.ServiceName == service {
			var out []Category
			c.Data("/api/v1/vtu/service/"+s.ServiceID+"/categories", &out)
			return out
		}
	}
	c.t.Fatalf("there is no service %s", service)
	return nil
}

// Category returns the ID of the vendor with this name.
func (c *Client) Category(service, name string) string {
	c.t.Helper()
	for _, k := range c.Categories(service) {
		if k.ServiceCategoryName == name {
			return k.ServiceCategoryID
		}
	}
	c.t.Fatalf("%s is not on sale", name)
	return ""
}

// Products returns the products of a category.
func (c *Client) Products(category string) []Bundle {
	c.t.Helper()
	var products []struct {
		CategoryProductID, CategoryProductName string
		Amount                                 money.Text
	}
	c.Data("/api/v1/vtu/category/"+category+"/products", &products)
	out := make([]Bundle, 0, len(products))
	for _, p := range products {
		out = append(out, Bundle{category, p.CategoryProductID, p.CategoryProductName, money.Kobo(p.Amount)})
	}
	return out
}

// Product returns the product with this name in a category.
func (c *Client) Product(category, name string) Bundle {
	c.t.Helper()
	for _, p := range c.Products(category) {
		if p.Name == name {
			return p
		}
	}
	c.t.Fatalf("%s is not on sale", name)
	return Bundle{}
}

// Verify verifies a smartcard or a meter, and returns the ID of the verification.
func (c *Client) Verify(t testing.TB, category, number string) (verificationID string) {
	t.Helper()
	var b struct {
		Data struct{ MeterVerificationID string }
	}
	body := map[string]any{"serviceCategoryId": category, "entityNumber": number}
	c.Do(http.MethodPost, "/api/v1/vtu/verify-entity", body).Want(t, http.StatusOK).Into(t, &b)
	return b.Data.MeterVerificationID
}

// The methods below return orders of airtime, TV and power.

// Airtime returns an order of airtime from the vendor with the ID category.
func (c *Client) Airtime(category, key, phone string, amount money.Kobo) Bill {
	return Bill{Path: "/api/v1/vtu/purchase-airtime", Body: map[string]any{
		"idempotencyKey": key, "serviceCategoryId": category, "phoneNumber": phone, "amount": amount, "settlementId": c.SettlementID,
	}}
}

// TV returns an order of a TV package for a smartcard.
func (c *Client) TV(verificationID, productID, key, card string) Bill {
	return Bill{Path: "/api/v1/vtu/purchase-cable-tv", Body: map[string]any{
		"idempotencyKey": key, "meterVerificationId": verificationID, "productId": productID, "cardNumber": card, "settlementId": c.SettlementID,
	}}
}

// Power returns an order of power for the verified meter.
func (c *Client) Power(verificationID, key string, amount money.Kobo) Bill {
	return Bill{Path: "/api/v1/vtu/purchase-utility", Body: map[string]any{
		"idempotencyKey": key, "meterVerificationId": verificationID, "amount": amount, "settlementId": c.SettlementID,
	}}
}

// Bill is an order of airtime, TV or power.
type Bill struct {
	Path string
	Body map[string]any
}

// Pay sends an order of airtime, TV or power.
func (c *Client) Pay(b Bill, headers ...string) Answer {
	c.t.Helper()
	return c.Do(http.MethodPost, b.Path, b.Body, headers...)
}
