package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// Every kind of the contract can be triggered, and what is told then is what the
// contract says of it.
func TestEveryKindIsTriggeredAndKeepsToTheContract(t *testing.T) {
	text, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	contract, err := apitest.ReadContract(text)
	if err != nil {
		t.Fatal(err)
	}
	kinds := contract.EventKinds()
	if have := slices.Sorted(maps.Keys(recipes)); !slices.Equal(have, kinds) {
		t.Errorf("these can be triggered:\n%s\nthe contract names\n%s", have, kinds)
	}
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			p := apptest.Start(t, dialect)
			d := &developer{Credentials: p.Credentials, http: &http.Client{Timeout: time.Minute}}
			for _, kind := range kinds {
				e, err := d.trigger(t.Context(), kind)
				if err == nil {
					err = contract.CheckEvent(e.text)
				}
				if err != nil || e.Event != kind {
					t.Errorf("%s: %v\n%s", kind, err, e.text)
				}
			}
		})
	}
}

// Without an admin key only what an operator does cannot be triggered.
func TestAnOperatorsDoingTakesAnAdminKey(t *testing.T) {
	p := apptest.Start(t, dbtest.Dialects[0])
	d := &developer{Credentials: p.Credentials, http: http.DefaultClient}
	d.AdminKey = ""
	if _, err := d.trigger(t.Context(), kybChanged); err == nil || !strings.Contains(err.Error(), "no admin key") {
		t.Errorf("without a key: %v", err)
	}
	if e, err := d.trigger(t.Context(), "settlement.credit"); err != nil || e.Event != "settlement.credit" {
		t.Errorf("%+v, %v", e, err)
	}
}
