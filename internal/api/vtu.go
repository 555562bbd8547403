package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// ListServices shows what can be sold.
func (h *handlers) ListServices(ctx context.Context, _ ListServicesRequestObject) (ListServicesResponseObject, error) {
	services, err := h.VTU.Services(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]Service, 0, len(services))
	for _, s := range services {
		rows = append(rows, Service{ServiceID: s.ID, ServiceName: s.Name})
	}
	return ListServices200JSONResponse{Success: true, Data: rows}, nil
}

// ListServiceCategories shows the vendors within a service.
func (h *handlers) ListServiceCategories(ctx context.Context, r ListServiceCategoriesRequestObject) (ListServiceCategoriesResponseObject, error) {
	categories, err := h.VTU.Categories(ctx, r.ServiceID)
	if err != nil {
		return nil, err
	}
	rows := make([]Category, 0, len(categories))
	for _, c := range categories {
		rows = append(rows, Category{ServiceCategoryID: c.ID, ServiceCategoryName: c.Name, ServiceID: c.ServiceID})
	}
	return ListServiceCategories200JSONResponse{Success: true, Data: rows}, nil
}

// ListCategoryProducts shows what a vendor sells.
func (h *handlers) ListCategoryProducts(ctx context.Context, r ListCategoryProductsRequestObject) (ListCategoryProductsResponseObject, error) {
	products, err := h.VTU.Products(ctx, r.ServiceCategoryID)
	if err != nil {
		return nil, err
	}
	rows := make([]Product, 0, len(products))
	for _, p := range products {
		rows = append(rows, Product{
			CategoryProductID: p.ID, CategoryProductName: p.Name, Amount: money.Text(p.Amount), IsFixedAmount: p.Fixed, Validity: p.Validity,
		})
	}
	return ListCategoryProducts200JSONResponse{Success: true, Data: rows}, nil
}

// ListVtuTransactions shows purchases, newest first.
func (h *handlers) ListVtuTransactions(ctx context.Context, r ListVtuTransactionsRequestObject) (ListVtuTransactionsResponseObject, error) {
	var q query
	filter := report.PurchaseFilter{
		Type:         q.oneOf("type", r.Params.Type, "AIRTIME", "DATA", "CABLE_TV", "UTILITY"),
		Status:       q.oneOf("status", r.Params.Status, "PENDING", "SUCCESS", "FAILED"),
		SettlementID: q.id("settlementId", r.Params.SettlementID),
		From:         q.instant("from", r.Params.From, false),
		To:           q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	p := newPage(r.Params.Page, r.Params.PageSize)
	transactions, total, err := h.Reports.Purchases(ctx, callOf(ctx).company, filter, p.offset(), p.size)
	if err != nil {
		return nil, err
	}
	return ListVtuTransactions200JSONResponse{Success: true, Data: VtuTransactionPage{
		Data: append([]VtuTransaction{}, transactions...), Meta: p.meta(callOf(ctx).request.URL, len(transactions), total),
	}}, nil
}

// FindVtuTransaction shows one purchase, by its id or the caller's own key.
func (h *handlers) FindVtuTransaction(ctx context.Context, r FindVtuTransactionRequestObject) (FindVtuTransactionResponseObject, error) {
	t, err := h.VTU.Transaction(ctx, callOf(ctx).company, r.TransactionID)
	if err != nil {
		return nil, err
	}
	return FindVtuTransaction200JSONResponse{Success: true, Data: t}, nil
}
