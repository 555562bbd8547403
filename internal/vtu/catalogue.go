package vtu

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/memo"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Names maps each kind of service to its name in the API.
var Names = map[provider.ServiceKind]string{
	provider.Airtime: "Airtime", provider.Data: "Data", provider.CableTV: "Cable TV", provider.Utility: "Utility",
}

// fresh is how old the catalogue may be that a program sells from. The billers' lists are copied every
// few hours, so a few seconds more change nothing.
const fresh = 5 * time.Second

// shelf keeps the parts of the catalogue that purchases have read in the last seconds. It keeps no part
// that does not exist. So a caller cannot fill the memory, and a new part is on sale immediately.
type shelf struct {
	category memo.Memo[Category]  // by its ID
	products memo.Memo[[]Product] // by the ID of their category
}

func (s *shelf) keep(d time.Duration) { s.category.Keep, s.products.Keep = d, d }

// drop makes the next purchase read the catalogue again.
func (s *shelf) drop() {
	s.category.Drop()
	s.products.Drop()
}

// Categories returns the categories on sale in a service. A vendor that several billers offer
// appears once.
func (s *Shop) Categories(ctx context.Context, serviceID string) ([]Category, error) {
	offered, err := s.categories(ctx, serviceID)
	if err == nil && len(offered) == 0 {
		err = fault.New(fault.Missing, "Service not found")
	}
	return s.onSale(offered), err
}

// findCategory returns what readCategory returns, or has returned in the last seconds.
func (s *Shop) findCategory(ctx context.Context, categoryID string) (Category, error) {
	return s.shelf.category.Read(s.Clock.Now(), categoryID, func() (Category, error) { return s.readCategory(ctx, categoryID) })
}

// readCategory returns a category on sale. If the routes choose a different biller for the vendor
// than the category's biller, the category counts as missing.
func (s *Shop) readCategory(ctx context.Context, categoryID string) (Category, error) {
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

// Products returns the products on sale in a category.
func (s *Shop) Products(ctx context.Context, categoryID string) ([]Product, error) {
	if _, err := s.readCategory(ctx, categoryID); err != nil {
		return nil, err
	}
	return s.products(ctx, categoryID)
}

func (s *Shop) onShelf(ctx context.Context, categoryID string) ([]Product, error) {
	return s.shelf.products.Read(s.Clock.Now(), categoryID, func() ([]Product, error) { return s.products(ctx, categoryID) })
}

// product returns a product of a category that is on sale.
func (s *Shop) product(ctx context.Context, categoryID, productID string) (Product, error) {
	all, err := s.onShelf(ctx, categoryID)
	if err != nil {
		return Product{}, err
	}
	if i := slices.IndexFunc(all, func(p Product) bool { return p.ID == productID }); i >= 0 {
		return all[i], nil
	}
	return s.findProduct(ctx, categoryID, productID)
}

// SyncDue copies the catalogue from each biller whose next copy is due.
func (s *Shop) SyncDue(ctx context.Context) error {
	return provider.SyncDue(ctx, s.Clock.Now(), s.Billers, s.takeSync, s.sync)
}

// offer is a category on a biller's list, with the products of the category.
type offer struct {
	provider.Category
	kind     provider.ServiceKind
	products []provider.Product
}

// sync copies a biller's list into the database. It reads the whole list before the first write.
func (s *Shop) sync(ctx context.Context, name string, b provider.Biller) error {
	offers, err := read(ctx, b)
	if err != nil {
		return err
	}
	defer s.shelf.drop()
	at := s.Clock.Now()
	return s.DB.Tx(ctx, func(q db.Querier) error {
		for _, o := range offers {
			if err := o.save(ctx, q, name, at); err != nil {
				return err
			}
		}
		return retireCategories(ctx, q, name, at)
	})
}

func read(ctx context.Context, b provider.Biller) (offers []offer, err error) {
	services, err := b.Services(ctx)
	if err == nil && len(services) == 0 {
		// An empty list is an error of the biller. Storing the empty list would stop all sales.
		err = errors.New("the list of services is empty")
	}
	if err != nil {
		return nil, err
	}
	for _, v := range services {
		categories, err := b.Categories(ctx, v.Code)
		if err != nil {
			return nil, err
		}
		for _, c := range categories {
			o := offer{Category: c, kind: v.Kind}
			if v.Kind == provider.Data || v.Kind == provider.CableTV { // airtime and electricity have no products
				if o.products, err = b.Products(ctx, c.Code); err != nil {
					return nil, err
				}
			}
			offers = append(offers, o)
		}
	}
	return offers, nil
}

func (o offer) save(ctx context.Context, q db.Querier, from string, at time.Time) error {
	serviceID, err := saveService(ctx, q, o.kind)
	if err != nil {
		return err
	}
	categoryID, err := saveCategory(ctx, q, from, serviceID, o.Category, at)
	if err != nil {
		return err
	}
	for _, p := range o.products {
		if err := saveProduct(ctx, q, categoryID, p, at); err != nil {
			return err
		}
	}
	return retireProducts(ctx, q, categoryID, at)
}
