package vtu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Names are the names of the services in the API.
var Names = map[provider.ServiceKind]string{
	provider.Airtime: "Airtime", provider.Data: "Data", provider.CableTV: "Cable TV", provider.Utility: "Utility",
}

// Services are the lines of the trade that are on sale.
func (s *Shop) Services(ctx context.Context) ([]Service, error) { return s.services(ctx) }

// Categories are a service's vendors that are on sale, each from one biller.
func (s *Shop) Categories(ctx context.Context, serviceID string) ([]Category, error) {
	active, err := s.serviceActive(ctx, serviceID)
	if err != nil {
		return nil, err
	}
	if !active {
		return nil, fault.New(fault.Missing, "Service not found")
	}
	offered, err := s.categories(ctx, serviceID)
	return s.onSale(offered), err
}

// findCategory is a category that is on sale. One that another biller sells now
// is like one that does not exist.
func (s *Shop) findCategory(ctx context.Context, categoryID string) (Category, error) {
	offered, err := s.siblings(ctx, categoryID)
	if err != nil {
		return Category{}, err
	}
	for _, c := range s.onSale(offered) {
		if c.ID == categoryID {
			return c, nil
		}
	}
	return Category{}, fault.New(fault.Missing, "Service category not found")
}

// Products are what a vendor has on sale.
func (s *Shop) Products(ctx context.Context, categoryID string) ([]Product, error) {
	if _, err := s.findCategory(ctx, categoryID); err != nil {
		return nil, err
	}
	return s.products(ctx, categoryID)
}

// SyncDue copies the lists of the billers whose copy is due.
func (s *Shop) SyncDue(ctx context.Context) error {
	var wrong []error
	for name, b := range s.Billers {
		err := provider.SyncDue(ctx, s.Clock.Now(), func(ctx context.Context, by, next time.Time) (bool, error) {
			return s.takeSync(ctx, name, by, next)
		}, func(ctx context.Context) error { return s.sync(ctx, name, b) })
		if err != nil {
			wrong = append(wrong, fmt.Errorf("vtu: the list of %s: %w", name, err))
		}
	}
	return errors.Join(wrong...)
}

// list is all that a biller has on sale, read before anything is written.
type list struct {
	services   []provider.Service
	categories map[string][]provider.Category // by service code
	products   map[string][]provider.Product  // by category code
}

func (s *Shop) sync(ctx context.Context, name string, b provider.Biller) error {
	l, err := read(ctx, b)
	if err != nil {
		return err
	}
	at := s.Clock.Now()
	return s.DB.Tx(ctx, func(q db.Querier) error { return l.save(ctx, q, name, at) })
}

func read(ctx context.Context, b provider.Biller) (list, error) {
	l := list{categories: map[string][]provider.Category{}, products: map[string][]provider.Product{}}
	var err error
	if l.services, err = b.Services(ctx); err != nil {
		return l, err
	}
	if len(l.services) == 0 {
		// A biller that sells nothing is a biller with a broken list: believing it
		// would take everything off sale.
		return l, errors.New("the list of services is empty")
	}
	for _, v := range l.services {
		if l.categories[v.Code], err = b.Categories(ctx, v.Code); err != nil {
			return l, err
		}
		if v.Kind != provider.Data && v.Kind != provider.CableTV {
			continue // airtime and power have an amount, and no products
		}
		for _, c := range l.categories[v.Code] {
			if l.products[c.Code], err = b.Products(ctx, c.Code); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

func (l list) save(ctx context.Context, q db.Querier, from string, at time.Time) error {
	for _, v := range l.services {
		serviceID, err := saveService(ctx, q, v.Kind)
		if err != nil {
			return err
		}
		for _, c := range l.categories[v.Code] {
			if err := l.saveCategory(ctx, q, from, serviceID, c, at); err != nil {
				return err
			}
		}
	}
	return retireCategories(ctx, q, from, at)
}

func (l list) saveCategory(ctx context.Context, q db.Querier, from, serviceID string, c provider.Category, at time.Time) error {
	categoryID, err := saveCategory(ctx, q, from, serviceID, c, at)
	if err != nil {
		return err
	}
	for _, p := range l.products[c.Code] {
		if err := saveProduct(ctx, q, categoryID, p, at); err != nil {
			return err
		}
	}
	return retireProducts(ctx, q, categoryID, at)
}
