package vtu

import (
	"context"
	"errors"
	"fmt"
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

// shelf keeps the parts of the catalogue that were read in the last seconds. It keeps no part that does
// not exist. So a caller cannot fill the memory, and a new part is on sale immediately.
type shelf struct {
	services   memo.Memo[[]Service]  // all
	categories memo.Memo[[]Category] // by the ID of their service
	category   memo.Memo[Category]   // by its ID
	products   memo.Memo[[]Product]  // by the ID of their category
}

func (s *shelf) keep(d time.Duration) {
	s.services.Keep, s.categories.Keep, s.category.Keep, s.products.Keep = d, d, d, d
}

// drop makes the next reader read the catalogue again.
func (s *shelf) drop() {
	s.services.Drop()
	s.categories.Drop()
	s.category.Drop()
	s.products.Drop()
}

// Services returns the services that have a category on sale.
func (s *Shop) Services(ctx context.Context) ([]Service, error) {
	return s.shelf.services.Read(s.Clock.Now(), "", func() ([]Service, error) { return s.services(ctx) })
}

// Categories returns the categories on sale in a service. A vendor that several billers offer
// appears once.
func (s *Shop) Categories(ctx context.Context, serviceID string) ([]Category, error) {
	offered, err := s.shelf.categories.Read(s.Clock.Now(), serviceID, func() ([]Category, error) {
		offered, err := s.categories(ctx, serviceID)
		if err == nil && len(offered) == 0 {
			err = fault.New(fault.Missing, "Service not found")
		}
		return offered, err
	})
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
	if _, err := s.findCategory(ctx, categoryID); err != nil {
		return nil, err
	}
	return s.onShelf(ctx, categoryID)
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

// list is a biller's list as far as it could be read.
type list struct {
	offers []offer
	unread []string // the kinds of service whose categories could not be read
}

// offer is a category on a biller's list, with the products of the category.
type offer struct {
	provider.Category
	kind     provider.ServiceKind
	products []provider.Product
	unread   bool // whether the products could not be read
}

// sync copies a biller's list into the database. It reads the whole list before the first write. A
// part that cannot be read keeps its old rows, and does not stop the other parts.
func (s *Shop) sync(ctx context.Context, name string, b provider.Biller) error {
	read, failed := readList(ctx, b)
	if len(read.offers) == 0 && failed != nil {
		return failed
	}
	defer s.shelf.drop()
	at := s.Clock.Now()
	err := s.DB.Tx(ctx, func(q db.Querier) error {
		for _, o := range read.offers {
			if err := o.save(ctx, q, name, at); err != nil {
				return err
			}
		}
		return retireCategories(ctx, q, name, read.unread, at)
	})
	return errors.Join(err, failed)
}

// readList reads a biller's list. The error joins the errors of all parts that could not be read.
func readList(ctx context.Context, b provider.Biller) (out list, err error) {
	services, err := b.Services(ctx)
	if err == nil && len(services) == 0 {
		// An empty list is an error of the biller. Storing the empty list would stop all sales.
		err = errors.New("the list of services is empty")
	}
	if err != nil {
		return list{}, err
	}
	var failed []error
	for _, v := range services {
		categories, err := b.Categories(ctx, v.Code)
		if err != nil {
			out.unread, failed = append(out.unread, string(v.Kind)), append(failed, fmt.Errorf("the categories of %s: %w", v.Kind, err))
			continue
		}
		for _, c := range categories {
			o := offer{Category: c, kind: v.Kind}
			if v.Kind == provider.Data || v.Kind == provider.CableTV { // airtime and electricity have no products
				if o.products, err = b.Products(ctx, v.Kind, c.Code); err != nil {
					o.unread, failed = true, append(failed, fmt.Errorf("the products of %s: %w", c.Name, err))
				}
			}
			out.offers = append(out.offers, o)
		}
	}
	return out, errors.Join(failed...)
}

func (o offer) save(ctx context.Context, q db.Querier, from string, at time.Time) error {
	serviceID, err := saveService(ctx, q, o.kind)
	if err != nil {
		return err
	}
	categoryID, err := saveCategory(ctx, q, from, serviceID, o.Category, at)
	if err != nil || o.unread {
		return err
	}
	for _, p := range o.products {
		if err := saveProduct(ctx, q, categoryID, p, at); err != nil {
			return err
		}
	}
	return retireProducts(ctx, q, categoryID, at)
}
