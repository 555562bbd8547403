package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

// CreateCustomer creates a customer. The provider sends the customer an OTP.
func (h *handlers) CreateCustomer(ctx context.Context, r CreateCustomerRequestObject) (CreateCustomerResponseObject, error) {
	return answer(ctx, func(made customer.Created) (CreateCustomer200JSONResponse, error) {
		return CreateCustomer200JSONResponse{Status: "success", Message: made.Message, Data: made.Customer.Profile}, nil
	}, func(key *idempotency.Key) (customer.Created, error) {
		return h.Customers.Create(ctx, customer.Registration{
			Customer: customer.Customer{Company: callOf(ctx).company, Profile: customer.Profile{
				FirstName: r.Body.FirstName, MiddleName: wire.Text(r.Body.MiddleName), LastName: r.Body.LastName,
				Email: r.Body.Email, PhoneNumber: r.Body.PhoneNumber,
			}, DateOfBirth: wire.Text(r.Body.DateOfBirth), Address: r.Body.Address},
			BVN: typed(r.Body.Bvn), Key: key,
		})
	})
}

// ResendCustomerOtp has the provider send a customer another OTP.
func (h *handlers) ResendCustomerOtp(ctx context.Context, r ResendCustomerOtpRequestObject) (ResendCustomerOtpResponseObject, error) {
	return answer(ctx, func(again customer.Resent) (ResendCustomerOtp200JSONResponse, error) {
		return ResendCustomerOtp200JSONResponse{Status: "success", Message: "OTP re-sent", Data: ResentCustomer{CustomerID: again.CustomerID}}, nil
	}, func(key *idempotency.Key) (customer.Resent, error) {
		return h.Customers.Resend(ctx, callOf(ctx).company, r.Body.CustomerID, key)
	})
}

// GenerateCustomerAccount opens a customer's bank account. The response has no account details
// (wallet-api.md).
func (h *handlers) GenerateCustomerAccount(ctx context.Context, r GenerateCustomerAccountRequestObject) (GenerateCustomerAccountResponseObject, error) {
	return answer(ctx, func(customer.Customer) (GenerateCustomerAccount200JSONResponse, error) {
		return GenerateCustomerAccount200JSONResponse{Status: "success", Message: "Account created successfully"}, nil
	}, func(key *idempotency.Key) (customer.Customer, error) {
		return h.Customers.GenerateAccount(ctx, customer.Request{
			Company: callOf(ctx).company, Customer: r.Body.CustomerID, OTP: secret.NewText(r.Body.Otp),
			SettlementID: r.Body.SettlementID, Key: key,
		})
	})
}

// ListCustomers lists the company's customers, newest first.
func (h *handlers) ListCustomers(ctx context.Context, r ListCustomersRequestObject) (ListCustomersResponseObject, error) {
	customers, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]customer.Customer, int, error) {
		return h.Customers.Customers(ctx, callOf(ctx).company, r.Params.Search, offset, limit)
	}, func(cursor string, limit int) ([]customer.Customer, error) {
		return h.Customers.After(ctx, callOf(ctx).company, r.Params.Search, cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	return ListCustomers200JSONResponse{Status: "success", Data: CustomerPage{
		Data: append([]Customer{}, customers...), Meta: meta,
	}}, nil
}

// FindCustomer returns one customer, by id or e-mail address.
func (h *handlers) FindCustomer(ctx context.Context, r FindCustomerRequestObject) (FindCustomerResponseObject, error) {
	c, err := h.Customers.Find(ctx, callOf(ctx).company, r.Customer)
	if err != nil {
		return nil, err
	}
	return FindCustomer200JSONResponse{Status: "success", Data: c}, nil
}
