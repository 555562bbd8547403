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
	BaseURL   string      `koanf:"base_url"`   // `https://vtpass.com/api`. Live mode only. Empty: VTpass is not used.
	APIKey    secret.Text `koanf:"api_key"`    // Key of every call.
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
	switch {
	case c.BaseURL == "":
		return nil
	case m == Sandbox:
		return errors.New("configuration: vtpass.base_url is for live mode: the sandbox brings its own provider")
	}
	plug := c.plug()
	wrong := checkReal("vtpass.base_url", &plug.BaseURL)
	return errors.Join(wrong, prefixed("", failure(vtpass.New(plug))))
}

// plug converts the settings to the configuration of the plug.
func (c VTpassConfig) plug() vtpass.Config {
	return vtpass.Config{
		ClientConfig: provider.ClientConfig{BaseURL: c.BaseURL}, APIKey: c.APIKey.Reveal(), PublicKey: c.PublicKey.Reveal(), SecretKey: c.SecretKey.Reveal(), Phone: c.Phone,
	}
}

func (VTpassConfig) simulated() books.Provider { return &simulated.Biller{} }

func (c VTpassConfig) sells(m Mode) bool { return m == Sandbox || c.BaseURL != "" }

func (c VTpassConfig) connect(a *App, name string, p *plugs) error {
	cfg := c.plug()
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
