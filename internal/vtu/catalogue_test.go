package vtu_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// biller is a fake Biller whose list a test sets. These tests buy nothing.
type biller struct {
	asked      int
	failing    error
	services   []provider.Service
	categories []provider.Category
	products   []provider.Product
	// The code of a service whose categories, and of a category whose products, cannot be read.
	brokenCategories, brokenProducts string
}

var errBroken = errors.New("the provider had a fault of its own")

func (b *biller) Name() string { return "Biller" }

func (b *biller) Services(context.Context) ([]provider.Service, error) {
	b.asked++
	return b.services, b.failing
}

func (b *biller) Categories(_ context.Context, service string) ([]provider.Category, error) {
	if service == b.brokenCategories {
		return nil, errBroken
	}
	return b.categories, nil
}

func (b *biller) Products(_ context.Context, _ provider.ServiceKind, category string) ([]provider.Product, error) {
	if category == b.brokenProducts {
		return nil, errBroken
	}
	return b.products, nil
}

func (b *biller) Pay(context.Context, provider.Purchase) provider.Answer { return provider.Answer{} }

func (b *biller) Requery(context.Context, provider.Sale) (a provider.Answer) { return a }

// market is two shops that share a database, a biller and a manual clock.
type market struct {
	*vtu.Shop
	t      *testing.T
	clock  *clock.Manual
	biller *biller
	other  *vtu.Shop // the shop of a second program
}

func each(t *testing.T, f func(t *testing.T, m *market)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		m := &market{t: t, clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), biller: &biller{
			services:   []provider.Service{{Code: "data", Name: "Data", Kind: provider.Data}},
			categories: []provider.Category{{Code: "mtn", Name: "MTN"}},
			products: []provider.Product{
				{Code: "1gb", Name: "1GB", Validity: "7 days", Amount: 800 * money.Naira, Fixed: true},
				{Code: "2gb", Validity: "2GB, 30 days", Amount: 1500 * money.Naira, Fixed: true},
			},
		}}
		open := func() *vtu.Shop {
			book, log := ledger.New(d, m.clock), slog.New(slog.DiscardHandler)
			operations := operation.NewService(d, book, m.clock, log, time.Second)
			return vtu.New(vtu.Config{
				DB: d, Book: book, Clock: m.clock, Log: log, Operations: operations, Settlements: settlement.New(settlement.Config{DB: d, Book: book, Clock: m.clock, Operations: operations}),
				Billers: map[string]provider.Biller{"biller": m.biller}, Routes: vtu.Routes{}.Otherwise("biller"),
			})
		}
		m.Shop, m.other = open(), open()
		f(t, m)
	})
}

// sync advances the clock by six hours and copies the list.
func (m *market) sync() {
	m.t.Helper()
	m.clock.Advance(6 * time.Hour)
	if err := m.SyncDue(m.t.Context()); err != nil {
		m.t.Error(err)
	}
}

// shelf returns the catalogue as two texts. The first text lists names and prices, and the second
// text lists IDs.
func (m *market) shelf() (shown, ids string) {
	m.t.Helper()
	check := func(err error) {
		if err != nil {
			m.t.Fatal(err)
		}
	}
	services, err := m.Services(m.t.Context())
	check(err)
	for _, s := range services {
		shown, ids = shown+s.Name, ids+s.ID
		categories, err := m.Categories(m.t.Context(), s.ID)
		check(err)
		for _, c := range categories {
			shown, ids = shown+" > "+c.Name, ids+" "+c.ID
			products, err := m.Products(m.t.Context(), c.ID)
			check(err)
			for _, p := range products {
				shown, ids = shown+" | "+p.Name+" "+money.Kobo(p.Amount).Number(), ids+" "+p.ID
			}
		}
	}
	return shown, ids
}

const usual = "Data > MTN | 1GB 800 | 2GB, 30 days 1500"

func TestACopiedListKeepsItsIDs(t *testing.T) {
	each(t, func(t *testing.T, m *market) {
		m.sync()
		shown, ids := m.shelf()
		if shown != usual { // a product without a name shows its validity period instead
			t.Errorf("on sale: %s", shown)
		}
		m.biller.products[0].Name, m.biller.products[0].Amount = "1 GB", 850*money.Naira
		m.biller.categories[0].Name = "MTN Nigeria"
		m.sync()
		if changed, same := m.shelf(); changed != "Data > MTN Nigeria | 1 GB 850 | 2GB, 30 days 1500" || same != ids {
			t.Errorf("on sale: %s\nids %s, were %s", changed, same, ids)
		}
	})
}

// A category or product that disappears from the list is no longer on sale. If it reappears, it
// gets its old ID.
func TestAMissingOfferGoesOffSale(t *testing.T) {
	each(t, func(t *testing.T, m *market) {
		m.sync()
		_, ids := m.shelf()
		categories, products := m.biller.categories, m.biller.products
		service := strings.Fields(ids)[0]
		m.biller.products = products[1:]
		m.sync()
		if shown, _ := m.shelf(); shown != "Data > MTN | 2GB, 30 days 1500" {
			t.Errorf("a product less: %s", shown)
		}
		m.biller.products, m.biller.categories = products, []provider.Category{{Code: "glo", Name: "GLO"}}
		m.sync()
		if shown, _ := m.shelf(); !strings.HasPrefix(shown, "Data > GLO") {
			t.Errorf("another vendor: %s", shown)
		}
		if _, err := m.Products(t.Context(), strings.Fields(ids)[1]); !fault.Is(err, fault.Missing) {
			t.Errorf("a retired vendor: %v", err)
		}
		m.biller.services = []provider.Service{{Code: "airtime", Name: "Airtime", Kind: provider.Airtime}}
		m.sync()
		if _, err := m.Categories(t.Context(), service); !fault.Is(err, fault.Missing) {
			t.Errorf("a retired service: %v", err)
		}
		m.biller.services = []provider.Service{{Code: "data", Name: "Data", Kind: provider.Data}}
		m.biller.categories = categories
		m.sync()
		if shown, same := m.shelf(); shown != usual || same != ids {
			t.Errorf("back again: %s\nids %s, were %s", shown, same, ids)
		}
	})
}

// An empty or unreadable list does not change the catalogue. The shop asks the biller again after
// five minutes.
func TestABrokenListChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, m *market) {
		m.sync()
		services := m.biller.services
		for name, broken := range map[string]func(){
			"empty":      func() { m.biller.services = nil },
			"unreadable": func() { m.biller.failing = errors.New("the provider had a fault of its own") },
		} {
			broken()
			m.clock.Advance(6 * time.Hour)
			if err := m.SyncDue(t.Context()); err == nil {
				t.Errorf("%s: believed", name)
			}
			if shown, _ := m.shelf(); shown != usual {
				t.Errorf("%s: on sale is %s", name, shown)
			}
			asked := m.biller.asked
			m.clock.Advance(5*time.Minute - time.Microsecond)
			if err := m.SyncDue(t.Context()); err != nil || m.biller.asked != asked {
				t.Errorf("%s: asked again too soon, %v", name, err)
			}
			m.biller.services, m.biller.failing = services, nil
			m.clock.Advance(time.Microsecond)
			if err := m.SyncDue(t.Context()); err != nil || m.biller.asked != asked+1 {
				t.Errorf("%s: not asked again, %v", name, err)
			}
		}
	})
}

// One category or one service that cannot be read keeps its old rows. It does not stop the others.
func TestAPartThatCannotBeReadKeepsItsRows(t *testing.T) {
	each(t, func(t *testing.T, m *market) {
		m.biller.categories = []provider.Category{{Code: "glo", Name: "GLO", Vendor: "GLO"}, {Code: "mtn", Name: "MTN", Vendor: "MTN"}}
		m.sync()
		m.biller.brokenProducts = "mtn"
		m.biller.products = []provider.Product{{Code: "5gb", Name: "5GB", Amount: 4000 * money.Naira, Fixed: true}}
		m.clock.Advance(6 * time.Hour)
		if err := m.SyncDue(t.Context()); err == nil || !strings.Contains(err.Error(), "the products of MTN") {
			t.Errorf("a category that cannot be read: %v", err)
		}
		const one = "Data > GLO | 5GB 4000 > MTN | 1GB 800 | 2GB, 30 days 1500"
		if shown, _ := m.shelf(); shown != one {
			t.Errorf("on sale: %s", shown)
		}
		m.biller.brokenCategories = "data"
		m.biller.services = append(m.biller.services, provider.Service{Code: "airtime", Name: "Airtime", Kind: provider.Airtime})
		m.clock.Advance(6 * time.Hour)
		if err := m.SyncDue(t.Context()); err == nil || !strings.Contains(err.Error(), "the categories of DATA") {
			t.Errorf("a service that cannot be read: %v", err)
		}
		if shown, _ := m.shelf(); shown != "Airtime > GLO > MTN"+one {
			t.Errorf("on sale: %s", shown)
		}
		m.biller.brokenProducts, m.biller.brokenCategories = "", ""
		m.clock.Advance(5 * time.Minute) // the next try after a failure
		if err := m.SyncDue(t.Context()); err != nil {
			t.Error(err)
		}
		if shown, _ := m.shelf(); shown != "Airtime > GLO > MTNData > GLO | 5GB 4000 > MTN | 5GB 4000" {
			t.Errorf("on sale: %s", shown)
		}
	})
}

// If several programs share a database, they ask the biller only once in six hours.
func TestOnlyOneProgramCopiesAList(t *testing.T) {
	each(t, func(t *testing.T, m *market) {
		for _, want := range []int{1, 2} {
			for range 3 {
				if err := errors.Join(m.SyncDue(t.Context()), m.other.SyncDue(t.Context())); err != nil {
					t.Error(err)
				}
			}
			if m.biller.asked != want {
				t.Errorf("asked %d times, not %d", m.biller.asked, want)
			}
			m.clock.Advance(6 * time.Hour)
		}
	})
}
