package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// ListServices lists the services on sale.
func (h *handlers) ListServices(ctx context.Context, _ ListServicesRequestObject) (ListServicesResponseObject, error) {
	services, err := h.VTU.Services(ctx)
	return ListServices200JSONResponse{Success: true, Data: append([]Service{}, services...)}, err
}

// ListServiceCategories lists the vendors of a service.
func (h *handlers) ListServiceCategories(ctx context.Context, r ListServiceCategoriesRequestObject) (ListServiceCategoriesResponseObject, error) {
	categories, err := h.VTU.Categories(ctx, r.ServiceID)
	return ListServiceCategories200JSONResponse{Success: true, Data: append([]Category{}, categories...)}, err
}

// ListCategoryProducts lists a vendor's products.
func (h *handlers) ListCategoryProducts(ctx context.Context, r ListCategoryProductsRequestObject) (ListCategoryProductsResponseObject, error) {
	products, err := h.VTU.Products(ctx, r.ServiceCategoryID)
	return ListCategoryProducts200JSONResponse{Success: true, Data: append([]Product{}, products...)}, err
}

// ListVtuTransactions lists purchases, newest first.
func (h *handlers) ListVtuTransactions(ctx context.Context, r ListVtuTransactionsRequestObject) (ListVtuTransactionsResponseObject, error) {
	var q query
	filter := report.PurchaseFilter{
		Type:         q.oneOf("type", r.Params.Type, "AIRTIME", "DATA", "CABLE_TV", "UTILITY"),
		Status:       q.oneOf("status", r.Params.Status, "PENDING", "SUCCESS", "FAILED", "REVERSED"),
		SettlementID: q.id("settlementId", r.Params.SettlementID),
		From:         q.instant("from", r.Params.From, false),
		To:           q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	transactions, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]vtu.Transaction, int, error) {
		return h.Reports.Purchases(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]vtu.Transaction, error) {
		return h.Reports.PurchasesAfter(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	return ListVtuTransactions200JSONResponse{Success: true, Data: VtuTransactionPage{
		Data: append([]VtuTransaction{}, transactions...), Meta: meta,
	}}, err
}

// FindVtuTransaction shows one purchase, by its id or by the key that the caller chose for it.
func (h *handlers) FindVtuTransaction(ctx context.Context, r FindVtuTransactionRequestObject) (FindVtuTransactionResponseObject, error) {
	c := callOf(ctx)
	t, err := h.Reports.Purchase(ctx, c.company, r.TransactionID)
	c.explain(t.Status)
	return FindVtuTransaction200JSONResponse{Success: true, Data: t}, err
}
