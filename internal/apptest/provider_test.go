package apptest_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/secret"
)

// In a whole program an operator sees all configured providers, what each does, and the calls and the
// outcomes of a purchase.
func TestOperatorsSeeAPurchase(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) { seePurchase(t, dialect) })
	}
}

func seePurchase(t *testing.T, dialect db.Dialect) {
	t.Parallel()
	p := apptest.Start(t, dialect)
	bundle := p.Bundle()
	p.Buy(p.Order(bundle, "seen", "10")).Want(t, 200)
	read := func(path string, into any) {
		t.Helper()
		data, err := p.App.Operate(t.Context(), secret.NewText(p.AdminKey), "GET", path, nil)
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var list admin.Providers
	read("providers", &list)
	roles := map[string][]string{}
	for _, one := range list.Providers {
		roles[one.Name] = one.Roles
		if one.Program.Name == "" || !slices.Contains(list.Programs, one.Program.Name) {
			t.Errorf("%s is seen by %q, which is not one of %q", one.Name, one.Program.Name, list.Programs)
		}
	}
	if !slices.Equal(roles["safehaven"], []string{"bank", "biller"}) || !slices.Equal(roles["vtpass"], []string{"biller"}) ||
		!slices.Equal(roles["sudo"], []string{"issuer"}) || !slices.Equal(roles["tatum"], []string{"custodian"}) {
		t.Errorf("%q", roles)
	}
	var sold int64
	for _, one := range list.Providers {
		var p admin.Provider
		read("providers/"+one.Name, &p)
		for _, o := range p.Program.Operations {
			if o.Call == "vtu first" {
				sold += o.Last15Minutes.Successes
			}
		}
		if len(p.Unknown.Ages) != 4 || p.Unknown.Count != 0 {
			t.Errorf("%s: %+v", one.Name, p.Unknown)
		}
	}
	if sold != 1 {
		t.Errorf("%d purchases were seen", sold)
	}
}
