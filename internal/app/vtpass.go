package app

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	simulated "github.com/kobo-waas/kobo/internal/provider/sandbox/vtpass"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
	"github.com/kobo-waas/kobo/internal/secret"
)

func init() { register("vtpass", VTpassConfig{}) }

// VTpassConfig is our account at VTpass. The group stays empty in sandbox mode.
// See docs/providers/vtpass.md.
type VTpassConfig struct {
	// Empty: `https://vtpass.com/api` in live mode, and `https://sandbox.vtpass.com/api` in staging mode.
	BaseURL   string      `koanf:"base_url"`
	APIKey    secret.Text `koanf:"api_key"`    // Key of every call. Without it and `base_url`, VTpass is not used.
	PublicKey secret.Text `koanf:"public_key"` // Key of GET calls, such as the catalogue.
	SecretKey secret.Text `koanf:"secret_key"` // Key of POST calls, such as purchases.
	Phone     string      `koanf:"phone"`      // Phone number, 11 digits, that VTpass may call about TV and power.
	// Whether VTpass finds purchases by our reference, as in `safehaven.lookup_by_reference`. Empty:
	// `proven`, since VTpass documents it.
	LookupByReference string `koanf:"lookup_by_reference"`
}

func (c VTpassConfig) check(m Mode, _ string) error {
	if err := failure(provider.ParseLookup(c.LookupByReference, provider.Proven)); err != nil {
		return fmt.Errorf("configuration: vtpass.%w", err)
	}
	plug := c.plug(m)
	switch {
	case m == Sandbox:
		return errorIf(c.BaseURL != "", "vtpass.base_url is for live mode and staging mode: the sandbox brings its own provider")
	case plug.BaseURL == "":
		return nil
	}
	wrong := m.checkAddress("vtpass.base_url", &plug.BaseURL, vtpassSystems)
	return errors.Join(wrong, prefixed("", failure(vtpass.New(plug))))
}

var vtpassSystems = systems{live: "https://vtpass.com/api", staging: "https://sandbox.vtpass.com/api"}

// plug converts the settings to the configuration of the plug. Its address is "" if VTpass is not
// used.
func (c VTpassConfig) plug(m Mode) vtpass.Config {
	address := c.BaseURL
	if address == "" && c.APIKey.Reveal() != "" {
		address = vtpassSystems.of(m)
	}
	return vtpass.Config{
		ClientConfig: provider.ClientConfig{BaseURL: address}, APIKey: c.APIKey.Reveal(), PublicKey: c.PublicKey.Reveal(), SecretKey: c.SecretKey.Reveal(), Phone: c.Phone,
	}
}

func (VTpassConfig) systems() []systems { return []systems{vtpassSystems} }

func (VTpassConfig) simulated() books.Provider { return &simulated.Biller{} }

func (c VTpassConfig) sells(m Mode) bool { return m == Sandbox || c.plug(m).BaseURL != "" }

func (c VTpassConfig) connect(a *App, name string, p *plugs) error {
	cfg := c.plug(a.cfg.Mode)
	if s, ok := a.sandbox.provider(name).(*simulated.Biller); ok {
		cfg = s.PlugConfig(a.sandbox.address(name))
	}
	if cfg.BaseURL == "" {
		return nil
	}
	a.prepare(name, &cfg.ClientConfig)
	plug, err := vtpass.New(cfg)
	if err != nil {
		return err
	}
	p.billers[name] = plug
	p.lookups[name], err = provider.ParseLookup(c.LookupByReference, provider.Proven)
	return err
}

// mount adds the handler of VTpass's callbacks, whose path contains a secret.
func (VTpassConfig) mount(a *App, name string, at map[string]http.Handler) {
	genuine := func(r *http.Request) bool { return a.Inbox.Genuine(r, name) }
	at["POST /callbacks/"+name+"/{secret}"] = a.Shop.CallbackHandler(name, genuine)
}
