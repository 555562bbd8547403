package providertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
)

// CustodianWorld is the test setup of a custodian: its plug, the custodian, and the wire between
// them.
type CustodianWorld struct {
	Custodian provider.Custodian
	Wire      *Wire
	Network   chain.Network
	Key       chain.Key
	Hash      string // the hash of a transaction in a block of the network
	// Notice returns a notification of the custodian. It is nil for a custodian that sends none.
	Notice func(t *testing.T) (http.Header, []byte)
	// Silent is true for a custodian that watches all addresses without a subscription.
	Silent bool
	// Keys are secrets that must not appear in any error.
	Keys []string
}

// RunCustodian runs all tests of a custodian's plug. Each test creates a new CustodianWorld. A plug
// must return a complete report or none, because an incomplete report would cause a wrong balance.
func RunCustodian(t *testing.T, newWorld func(t *testing.T) CustodianWorld) {
	t.Run("in peace", func(t *testing.T) { custody(t, newWorld(t)) })
	t.Run("notices", func(t *testing.T) { custodyNotices(t, newWorld(t)) })
	t.Run("accidents", func(t *testing.T) { custodyAccidents(t, newWorld) })
}

func nobodys(context.Context, string, []string) (map[string]bool, error) { return nil, nil }

func (w CustodianWorld) address(t *testing.T, index int64) string {
	t.Helper()
	got, err := w.Custodian.Address(context.Background(), w.Network, w.Key, index)
	want, wrong := w.Key.Address(w.Network, index)
	if err != nil || wrong != nil || got != want {
		t.Errorf("address %d: %q, %v, want %q, %v", index, got, err, want, wrong)
	}
	return got
}

func custody(t *testing.T, w CustodianWorld) {
	ctx := context.Background()
	if w.Custodian.Name() == "" || w.Custodian.Pace() <= 0 {
		t.Errorf("%q, every %v", w.Custodian.Name(), w.Custodian.Pace())
	}
	address := w.address(t, 0)
	if other := w.address(t, 1); other == address {
		t.Errorf("two of %s", address)
	}
	first, err := w.Custodian.Watch(ctx, w.Network, address)
	again, wrong := w.Custodian.Watch(ctx, w.Network, address)
	if err != nil || wrong != nil || first != again || (first == "") != w.Silent {
		t.Errorf("watched as %q and %q: %v, %v", first, again, err, wrong)
	}
	at, err := w.Custodian.Inclusion(ctx, w.Network, w.Hash)
	if err != nil || !at.Found || at.Waiting || at.Reverted || at.Block <= 0 || at.Head < at.Block {
		t.Errorf("in a block: %+v, %v", at, err)
	}
	none := "0x" + strings.Repeat("0f", 32)
	if at, err := w.Custodian.Inclusion(ctx, w.Network, none); err != nil || at.Found || at.Waiting || at.Reverted || at.Head <= 0 {
		t.Errorf("nobody's: %+v, %v", at, err)
	}
	cursor := ""
	for range 3 {
		b, err := w.Custodian.Since(ctx, cursor, nobodys)
		if err != nil || b.Cursor == "" || len(b.Movements) != 0 || len(b.Gone) != 0 || len(b.Unread) != 0 {
			t.Errorf("nothing of ours: %+v, %v", b, err)
		}
		cursor = b.Cursor
	}
	if first == "" {
		return
	}
	for range 2 { // the second call must succeed too, although the subscription has already ended
		if err := w.Custodian.Unwatch(ctx, first); err != nil {
			t.Errorf("unwatched: %v", err)
		}
	}
}

// custodyNotices proves that the plug accepts only signed notifications.
func custodyNotices(t *testing.T, w CustodianWorld) {
	if w.Notice == nil {
		for _, body := range []string{"", "{}", `[{"address":"0x1"}]`} {
			if m, err := w.Custodian.ParseNotification(http.Header{}, []byte(body)); !errors.Is(err, provider.ErrForged) {
				t.Errorf("of one who sends nothing: %+v, %v", m, err)
			}
		}
		return
	}
	header, body := w.Notice(t)
	told, err := w.Custodian.ParseNotification(header, body)
	if err != nil || len(told) != 1 || told[0].NetworkID != w.Network.ID || told[0].Units.Sign() <= 0 || told[0].Hash == "" {
		t.Errorf("%+v, %v", told, err)
	}
	for name, forged := range map[string][]byte{
		"nothing": nil, "garbage": []byte("{"), "one byte more": append([]byte(" "), body...), "cut": body[:len(body)-1],
	} {
		if _, err := w.Custodian.ParseNotification(header, forged); !errors.Is(err, provider.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Custodian.ParseNotification(http.Header{}, body); !errors.Is(err, provider.ErrForged) {
		t.Errorf("unsigned: %v", err)
	}
}

// custodyAccidents proves that an incomplete response is an error. The plug must not read it as
// "nothing moved" or "no such transaction".
func custodyAccidents(t *testing.T, newWorld func(t *testing.T) CustodianWorld) {
	for name, accident := range map[string]Accident{
		"HTTP 500":              Says(500, `{}`),
		"HTTP 503 in HTML":      Says(503, `<html>`),
		"HTTP 429":              Says(429, `{"statusCode":429,"errorCode":"rate.limit"}`),
		"never let in":          Says(401, `{"statusCode":401,"errorCode":"unauthorized","message":"no"}`),
		"a gateway's 404":       Says(404, `<html>not found</html>`),
		"a router's 404":        Says(404, `{"statusCode":404,"message":"Cannot GET /v3/x"}`),
		"an empty 404":          Says(404, ``),
		"a redirect":            Says(307, ``),
		"HTML":                  Says(200, `<html>welcome</html>`),
		"garbage":               Says(200, `[{"id":0,"res`),
		"nothing":               Says(200, ``),
		"null":                  Says(200, `null`),
		"an object":             Says(200, `{}`),
		"a sentence":            Says(200, `"yes"`),
		"half an answer":        DoesAndCuts,
		"the connection breaks": Hides,
		"no answer in time":     DoesAndHangs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx := context.Background()
			start, err := w.Custodian.Since(ctx, "", nobodys)
			if err != nil {
				t.Fatal(err)
			}
			w.Wire.Plan(func(*http.Request) bool { return true }, 9999, accident)
			w.trouble(t, "where it stands", func() (any, error) { return w.Custodian.Inclusion(ctx, w.Network, w.Hash) })
			w.trouble(t, "what moved", func() (any, error) { return w.Custodian.Since(ctx, start.Cursor, nobodys) })
			if !w.Silent {
				w.trouble(t, "watch", func() (any, error) { return w.Custodian.Watch(ctx, w.Network, w.address(t, 2)) })
			}
			w.Wire.Cut()
			w.trouble(t, "nobody there", func() (any, error) { return w.Custodian.Inclusion(ctx, w.Network, w.Hash) })
		})
	}
}

// trouble runs a call that must return an *Error and a zero result. The error must not contain a
// key.
func (w CustodianWorld) trouble(t *testing.T, what string, ask func() (any, error)) {
	t.Helper()
	got, err := ask()
	wantError(t, what, err)
	if !reflect.ValueOf(got).IsZero() {
		t.Errorf("%s: %+v beside %v", what, got, err)
	}
	for _, key := range w.Keys {
		if said := fmt.Sprintf("%v %+v", err, err); strings.Contains(said, key) {
			t.Errorf("%s: a key shows: %s", what, said)
		}
	}
}
