package vtu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

func TestParseRoutes(t *testing.T) {
	r, err := ParseRoutes(" DATA=vtpass, DATA/GLO = safehaven ,,*=vtpass ")
	if err != nil || fmt.Sprint(r) != "map[*:vtpass DATA:vtpass DATA/GLO:safehaven]" || fmt.Sprint(r.Names()) != "[safehaven vtpass]" {
		t.Errorf("%v %v", r, err)
	}
	none := Routes{}
	if got := r.Otherwise("safehaven")["*"] + " " + none.Otherwise("safehaven")["*"]; got != "vtpass safehaven" || len(none) != 0 {
		t.Errorf("otherwise: %s", got)
	}
	if r, err := ParseRoutes(""); err != nil || len(r) != 0 {
		t.Errorf("none: %v %v", r, err)
	}
	chain, err := ParseRoutes("*=b, DATA = a > b> c")
	fit := func(name string) bool { return name != "b" }
	all := func(string) bool { return true }
	if got := fmt.Sprint(chain, chain.Names(), chain.After("DATA", "MTN", "a", all), chain.After("DATA", "MTN", "a", fit),
		chain.After("DATA", "MTN", "x", all), chain.After("UTILITY", "EKO", "b", all), chain.For("DATA", "MTN", all)); err != nil ||
		got != "map[*:b DATA:a>b>c] [a b c] [b c] [c] [] []a" {
		t.Errorf("further billers: %s %v", got, err)
	}
	if _, err := provider.ParseRoutes("PAYOUT=a>b", provider.BankRoutes); err == nil {
		t.Error("a payout has two banks")
	}
	for _, wrong := range []string{"DATA=a>", "DATA=>a", "DATA=a>a", "DATA=a>>b", "DATA", "DATA=", "data=vtpass", "DATA/=vtpass", "BETTING=vtpass", "DATA=a,DATA=b"} {
		if r, err := ParseRoutes(wrong); err == nil {
			t.Errorf("%q is %v", wrong, r)
		}
	}
}

// A route for a vendor overrides the route for the kind of service, which overrides the route "*".
// A biller that does not offer the service or is not configured is never chosen.
func TestOnSale(t *testing.T) {
	offered := []Category{
		{ID: "1", kind: provider.Data, vendor: "MTN", provider: "a"},
		{ID: "2", kind: provider.Data, vendor: "MTN", provider: "b"},
		{ID: "3", kind: provider.Data, vendor: "GLO", provider: "a"},
		{ID: "4", kind: provider.Data, vendor: "GLO", provider: "b"},
		{ID: "5", kind: provider.Utility, vendor: "ABA", provider: "b"},
		{ID: "6", kind: provider.Airtime, vendor: "MTN", provider: "a"},
		{ID: "7", kind: provider.Data, vendor: "SMILE", provider: "gone"},
	}
	s := &Shop{Config: Config{Billers: map[string]provider.Biller{"a": biller{}, "b": biller{}}}}
	for routes, want := range map[string]string{
		"":                                "13 5 6",
		"*=b":                             "24 5 6",
		"DATA=b":                          "24 5 6",
		"DATA=b,DATA/GLO=a":               "23 5 6",
		"*=b,DATA=a":                      "13 5 6",
		"UTILITY=a,AIRTIME=b,DATA/MTN=b":  "23 5 6",
		"DATA=gone,*=b":                   "24 5 6",
		"DATA/SMILE=a,DATA/SMILEY=b,*=a ": "13 5 6",
	} {
		var err error
		if s.Routes, err = ParseRoutes(routes); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range s.onSale(offered) {
			got += c.ID
		}
		if got != strings.ReplaceAll(want, " ", "") || len(offered) != 7 || offered[1].ID != "2" {
			t.Errorf("%s: %s, want %s", routes, got, want)
		}
	}
}

type biller struct{ provider.Biller }

// If an operation's biller is not configured any more, the operation stays PENDING. Kobo does not
// send the operation to a different biller.
func TestABillerThatIsGoneIsNotReplaced(t *testing.T) {
	s := &Shop{Config: Config{Billers: map[string]provider.Biller{"a": biller{}}, Routes: Routes{"*": "a"}}}
	a := s.requery(t.Context(), operation.Operation{ID: "1", Provider: "gone"})
	if a.Outcome != provider.Unknown || a.Missing || a.Code != "not_configured" {
		t.Errorf("%+v", a)
	}
}
