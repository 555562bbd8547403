package apptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Purchases of every kind reach the outcome that the biller recorded. Two billers are used in
// parallel.
func TestEveryKindEndsInTheTruth(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second), apptest.Routes("UTILITY=vtpass, CABLE_TV/GOTV=vtpass"))
		network, power := p.Category("Airtime", "MTN"), p.Category("Utility", "Ikeja Electric Payment - IKEDC")
		dstv, gotv := p.Category("Cable TV", "DSTV"), p.Category("Cable TV", "Gotv Payment")
		compact, smallie := p.Product(dstv, "DStv Compact + French Touch"), p.Product(gotv, "GOtv Smallie N1,900")
		for _, s := range stories {
			for name, bill := range map[string]apptest.Bill{
				"Airtime":                  p.Airtime(network, "air-"+s.ending, "080312345"+s.ending, 10050),
				"Cable TV, Safe Haven":     p.TV(p.Verify(t, dstv, "7012345678"), compact.Product, "dstv-"+s.ending, "70123456"+s.ending),
				"Cable TV, VTpass":         p.TV(p.Verify(t, gotv, "7012345678"), smallie.Product, "gotv-"+s.ending, "70123456"+s.ending),
				"Utility, VTpass, prepaid": p.Power(p.Verify(t, power, "450123456"+s.ending), "power-"+s.ending, 2000*money.Naira),
			} {
				a := p.Pay(bill).Want(t, s.status)
				if s.status == http.StatusOK && p.Bought(a).Status != s.first {
					t.Errorf("%s, %s: %s", name, s.name, a)
				}
			}
		}
		p.Audit(t, apptest.DevFloat)
		p.Advance(time.Minute)
		p.Advance(15 * time.Minute)
		if open := p.Open(); len(open) != 0 {
			t.Errorf("these are open: %+v", open)
		}
		for _, s := range stories {
			for _, kind := range []string{"air-", "dstv-", "gotv-", "power-"} {
				tr := p.Transaction(kind + s.ending)
				var more struct{ Token, CardNumber, MeterNumber *string }
				if err := json.Unmarshal(tr.Raw, &more); err != nil {
					t.Fatal(err)
				}
				powered := kind == "power-"
				if tr.Status != s.end || (more.Token != nil) != (powered && s.end == "SUCCESS") || (more.MeterNumber != nil) != powered {
					t.Errorf("%s%s: %s", kind, s.name, tr.Raw)
				}
			}
		}
		if n := len(p.Audit(t, apptest.DevFloat)); n != 4*len(stories) {
			t.Errorf("%d transactions", n)
		}
	})
}

// A company can use a bill verification for only one purchase, even if it sends many parallel
// requests. After a rejected purchase the verification can be used again. While the outcome of the
// purchase is unknown, it cannot.
func TestAVerificationServesOnePurchase(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		dstv := p.Category("Cable TV", "DSTV")
		padi := p.Product(dstv, "DStv Padi")
		verification, got := p.Verify(t, dstv, "7012345678"), map[string]int{}
		for _, a := range atOnce(t, 12, func(i int) (apptest.Answer, error) {
			b := p.TV(verification, padi.Product, fmt.Sprintf("tv-race-%d", i), "7012345678")
			return p.Try(context.Background(), http.MethodPost, b.Path, b.Body)
		}) {
			got[fmt.Sprint(a.Status, " ", a.Message())]++
		}
		if got["200 Cable TV purchase successful"] != 1 || got["400 Verification already used"] != 11 {
			t.Errorf("answers: %v", got)
		}
		// The purchases are rejected immediately, rejected later, or never executed. After each of
		// them the verification is usable again.
		verification = p.Verify(t, dstv, "7012345678")
		for _, ending := range []string{"01", "07", "03"} {
			p.Pay(p.TV(verification, padi.Product, "tv-"+ending, "70123456"+ending))
			if ending != "01" {
				used := p.Pay(p.TV(verification, padi.Product, "tv-early-"+ending, "7012345678")).Want(t, http.StatusBadRequest)
				if used.Message() != "Verification already used" {
					t.Errorf("while …%s is open: %s", ending, used)
				}
			}
			failed := func() string {
				if tr := p.Transaction("tv-" + ending); tr.Status != "FAILED" {
					return fmt.Sprintf("…%s: %s", ending, tr.Raw)
				}
				return ""
			}
			if ending == "01" {
				if wrong := failed(); wrong != "" {
					t.Fatal(wrong)
				}
				continue
			}
			// The clock may move before the program has written that it got no answer in time. Then the questions come later.
			apptest.Eventually(t, func() string {
				p.Advance(20 * time.Minute)
				return failed()
			})
		}
		other := p.Company(100_000 * money.Naira)
		stolen := other.Pay(other.TV(verification, padi.Product, "tv-other", "7012345678")).Want(t, http.StatusBadRequest)
		if stolen.Message() != "Verification not found" {
			t.Errorf("another company: %s", stolen)
		}
		p.Bought(p.Pay(p.TV(verification, padi.Product, "tv-last", "7012345678")))
		p.Audit(t, apptest.DevFloat)
	})
}

// A vendor that two billers offer appears only once in the catalogue. The routes decide which of
// the two billers sells.
func TestRoutesDecideWhoSells(t *testing.T) {
	names := func(c *apptest.Client, service string) (out []string) {
		for _, k := range c.Categories(service) {
			out = append(out, k.ServiceCategoryName)
		}
		slices.Sort(out)
		return out
	}
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		p := home.Start(t)
		if got := names(p.Client, "Data"); !slices.Equal(got, []string{"9MOBILE", "AIRTEL", "GLO", "MTN"}) {
			t.Errorf("Safe Haven alone: %v", got)
		}
		if got := names(p.Client, "Utility"); !slices.Contains(got, "Electricity in Aba - ABEDC") || len(got) != 12 {
			t.Errorf("what only VTpass offers: %v", got)
		}
		before := p.Category("Data", "MTN")
		order := p.Order(p.Products(before)[0], "routed", "10")
		p.Stop()

		p = home.Start(t, apptest.Routes("DATA=vtpass, DATA/GLO=safehaven"))
		if got := names(p.Client, "Data"); !slices.Equal(got, []string{"9MOBILE", "AIRTEL", "GLO", "MTN Data"}) {
			t.Errorf("with routes: %v", got)
		}
		if a := p.Buy(order).Want(t, http.StatusBadRequest); a.Message() != "Invalid service category" {
			t.Errorf("a category that another biller sells now: %s", a)
		}
		a := p.Do(http.MethodGet, "/api/v1/vtu/category/"+before+"/products", nil).Want(t, http.StatusBadRequest)
		if a.Message() != "Service category not found" {
			t.Errorf("its products: %s", a)
		}
		now := p.Products(p.Category("Data", "MTN Data"))[0]
		p.Bought(p.Buy(p.Order(now, "routed", "10")))
		p.Audit(t, apptest.DevFloat)
	})
}
