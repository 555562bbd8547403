package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// kobo trigger can cause every kind of event that the API contract lists, and the event's data
// matches the contract.
func TestTriggerCausesEveryKindOfEvent(t *testing.T) {
	contract, err := apitest.ReadContract(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	kinds := contract.EventKinds()
	if have := slices.Sorted(maps.Keys(recipes)); !slices.Equal(have, kinds) {
		t.Errorf("these can be triggered:\n%s\nthe contract names\n%s", have, kinds)
	}
	for _, dialect := range dbtest.Servers() {
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
					continue
				}
				shown(t, d, e)
				example, err := contract.EventExample(kind)
				if err != nil {
					t.Fatal(err)
				}
				if want, have := fields(t, e.text), fields(t, example); !slices.Equal(want, have) {
					t.Errorf("%s has the fields\n%s\nand the contract's example\n%s", kind, want, have)
				}
			}
		})
	}
}

// Without an admin key, kobo trigger can cause all kinds of events except those that only an
// operator can cause.
func TestTriggerNeedsAnAdminKeyForEventsOfOperators(t *testing.T) {
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

// gets has, for each kind of event, the path that shows the object that the event is about. The
// second text is the field of the event's data that has the object's id. A path without %s is a
// list. Some kinds are missing, because their objects have changed since the event or cannot be
// read (docs/contract.md).
var gets = map[string][2]string{
	"vtu.success":                 {"/api/v1/vtu/transaction/%s", "transactionId"},
	"vtu.failed":                  {"/api/v1/vtu/transaction/%s", "transactionId"},
	"vtu.reversed":                {"/api/v1/vtu/transaction/%s", "transactionId"},
	"payout.success":              {"/api/v1/settlement/payout-status/%s", "reference"},
	"payout.failed":               {"/api/v1/settlement/payout-status/%s", "reference"},
	"payout.reversed":             {"/api/v1/settlement/payout-status/%s", "reference"},
	"customer.created":            {"/api/v1/customer/%s", "id"},
	"customer.account_generated":  {"/api/v1/customer/%s", "id"},
	"card.generated":              {"/api/v1/card/get-card/%s", "id"},
	"card.funded":                 {"/api/v1/card/transaction/%s", "reference"},
	"card.frozen":                 {"/api/v1/card/get-card/%s", "id"},
	"card.unfrozen":               {"/api/v1/card/get-card/%s", "id"},
	"card.terminated":             {"/api/v1/card/get-card/%s", "id"},
	"card.funding_failed":         {"/api/v1/card/transaction/%s", "reference"},
	"transaction.credit":          {"/api/v1/transaction/"},
	"crypto.deposit_pending":      {"/api/v1/crypto/history"},
	"crypto.deposit_completed":    {"/api/v1/crypto/history"},
	"crypto.deposit_failed":       {"/api/v1/crypto/history"},
	"crypto.withdrawal_completed": {"/api/v1/crypto/history"},
	"crypto.withdrawal_failed":    {"/api/v1/crypto/history"},
	// The data of these events has all fields that a GET request shows, and further fields.
	"virtual_account.success":      {"/api/v1/virtual-account/%s", "virtual_trx_id"},
	"virtual_account.failed":       {"/api/v1/virtual-account/%s", "virtual_trx_id"},
	"virtual_account.late_payment": {"/api/v1/virtual-account/%s", "virtual_trx_id"},
}

// shown checks that the data of an event equals the response to the GET request for the same
// object, byte for byte.
func shown(t *testing.T, d *developer, e told) {
	t.Helper()
	get, there := gets[e.Event]
	if !there {
		return
	}
	var data struct{ Data json.RawMessage }
	var fields map[string]any
	if err := errors.Join(json.Unmarshal(e.text, &data), json.Unmarshal(data.Data, &fields)); err != nil {
		t.Fatal(err)
	}
	path := get[0]
	if get[1] != "" {
		path = fmt.Sprintf(path, fields[get[1]])
	}
	var answer json.RawMessage
	if err := d.api(t.Context(), http.MethodGet, path, nil, &answer); err != nil {
		t.Errorf("%s: %v", e.Event, err)
	}
	same := bytes.Equal(answer, data.Data)
	switch {
	case get[1] == "":
		same = bytes.Contains(answer, data.Data)
	case strings.HasPrefix(e.Event, "virtual_account.") && len(answer) > 2:
		same = bytes.Contains(data.Data, answer[1:len(answer)-1])
	}
	if !same {
		t.Errorf("%s carries\n%s\nand GET %s shows\n%s", e.Event, data.Data, path, answer)
	}
}

// fields returns the names of all fields of an object, each with the type of its
// value, sorted.
func fields(t *testing.T, text []byte) (out []string) {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		if object, ok := value.(map[string]any); ok {
			for name, v := range object {
				walk(path+"."+name, v)
			}
			return
		}
		out = append(out, fmt.Sprintf("%s %T", path, value))
	}
	walk("", value)
	slices.Sort(out)
	return out
}
