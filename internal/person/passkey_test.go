package person_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/person/persontest"
)

func TestAPasskeySignsIn(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		p, other := h.join("ada", operator.Finance), h.join("bola", operator.Admin)
		var device persontest.Device
		c, err := h.BeginPasskey(ctx, p)
		h.must(err)
		h.refuses("a passkey of another site", h.FinishPasskey(ctx, p, "phone", c.State, device.Create(h.t, c.Options, "https://console.example.org")), fault.Unauthenticated)
		h.refuses("a passkey of another person", h.FinishPasskey(ctx, other, "phone", c.State, device.Create(h.t, c.Options, origin)), fault.Invalid)
		h.refuses("a passkey without a name", h.FinishPasskey(ctx, p, "", c.State, device.Create(h.t, c.Options, origin)), fault.Invalid)
		h.must(h.FinishPasskey(ctx, p, "phone", c.State, device.Create(h.t, c.Options, origin)))

		begin := func() person.Ceremony {
			h.machine.Advance(time.Second)
			c, err := h.BeginSignIn()
			h.must(err)
			return c
		}
		c = begin()
		said := device.Sign(h.t, c.Options, origin)
		_, err = h.FinishSignIn(ctx, "acme", c.State, said)
		h.refuses("the passkey at a company", err, fault.Unauthenticated)
		got, err := h.FinishSignIn(ctx, "", c.State, said)
		if err != nil || got.ID != p.ID {
			h.t.Fatalf("the passkey: %+v, %v", got, err)
		}
		_, err = h.FinishSignIn(ctx, "", c.State, said)
		h.refuses("the same answer again", err, fault.Unauthenticated)
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.Sign(h.t, c.Options, "https://evil.example.org"))
		h.refuses("an answer to another site", err, fault.Unauthenticated)
		c = begin()
		_, err = h.FinishSignIn(ctx, "", begin().State, device.Sign(h.t, c.Options, origin))
		h.refuses("an answer to another challenge", err, fault.Unauthenticated)
		c = begin()
		h.machine.Advance(10 * time.Minute)
		_, err = h.FinishSignIn(ctx, "", c.State, device.Sign(h.t, c.Options, origin))
		h.refuses("a late answer", err, fault.Invalid)
		device.Uses = 1
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.Sign(h.t, c.Options, origin))
		h.refuses("a copy of the passkey", err, fault.Unauthenticated)
		device.Uses = 100
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.Sign(h.t, c.Options, origin))
		h.must(err)
		all, err := h.Credentials(ctx, p)
		if err != nil || len(all) != 1 || all[0].Label != "phone" || all[0].UsedAt.IsZero() {
			h.t.Fatalf("credentials: %+v, %v", all, err)
		}
		h.must(h.Remove(ctx, p, person.Session{}, all[0].ID))
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.Sign(h.t, c.Options, origin))
		h.refuses("a removed passkey", err, fault.Unauthenticated)
	})
}

func TestAnOriginHasAName(t *testing.T) {
	for origin, isOne := range map[string]bool{
		"https://console.example.com": true, "https://console.example.com:8443": true, "http://localhost:8080": true,
		"http://console.example.com": false, "https://127.0.0.1": false, "https://console.example.com/console": false, "console.example.com": false, "": false,
	} {
		if err := person.CheckOrigin(origin); (err == nil) != isOne {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
