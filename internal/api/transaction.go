package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/fault"
)

// ListTransactions lists the credits on the accounts of all customers, newest first.
// No other list of transactions shows the fee, the currency and the customer.
func (h *handlers) ListTransactions(ctx context.Context, r ListTransactionsRequestObject) (ListTransactionsResponseObject, error) {
	var q query
	filter := customer.TransactionFilter{
		CustomerID: r.Params.CustomerID,
		From:       q.instant("from", r.Params.From, false), To: q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	list, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]customer.Transaction, int, error) {
		return h.Customers.Transactions(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]customer.Transaction, error) {
		return h.Customers.TransactionsAfter(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	return ListTransactions200JSONResponse{Status: "success", Data: TransactionPage{
		Data: append([]Transaction{}, list...), Meta: meta,
	}}, nil
}

// ListCustomerTransactions lists the newest transactions of one customer. It ignores
// page and pageSize.
func (h *handlers) ListCustomerTransactions(ctx context.Context, r ListCustomerTransactionsRequestObject) (ListCustomerTransactionsResponseObject, error) {
	list, err := h.Customers.TransactionsOf(ctx, callOf(ctx).company, r.Customer)
	if err != nil {
		return nil, err
	}
	return ListCustomerTransactions200JSONResponse{Status: "success", Data: append([]CustomerTransaction{}, list...)}, nil
}

// FindCustomerTransaction returns one transaction of one customer, or null.
func (h *handlers) FindCustomerTransaction(ctx context.Context, r FindCustomerTransactionRequestObject) (FindCustomerTransactionResponseObject, error) {
	t, err := h.Customers.Transaction(ctx, callOf(ctx).company, r.Customer, r.TransactionID)
	if fault.Is(err, fault.Missing) {
		return FindCustomerTransaction200JSONResponse{Status: "success"}, nil
	}
	if err != nil {
		return nil, err
	}
	return FindCustomerTransaction200JSONResponse{Status: "success", Data: &t}, nil
}
