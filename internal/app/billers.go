package app

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// vtpassName is the name under which the books know VTpass.
const vtpassName = "vtpass"

// VTpassConfig is our account at VTpass. It stays empty in sandbox mode, and where
// VTpass is not used.
type VTpassConfig struct {
	BaseURL   string      `koanf:"base_url"`
	APIKey    secret.Text `koanf:"api_key"`
	PublicKey secret.Text `koanf:"public_key"`
	SecretKey secret.Text `koanf:"secret_key"`
	Phone     string      `koanf:"phone"`
}

// VTUConfig says who sells what.
type VTUConfig struct {
	// Routes are read by vtu.ParseRoutes: "DATA=vtpass, DATA/GLO=safehaven".
	Routes string `koanf:"routes"`
}

func (c VTpassConfig) check(m Mode) error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case c.BaseURL == "":
		return nil
	case m == Sandbox:
		return errors.New("configuration: vtpass.base_url is for live mode: the sandbox brings its own provider")
	case err != nil || u.Scheme != "https":
		return errors.New("configuration: vtpass.base_url must be an https URL in live mode")
	case pretend(u):
		return errors.New("configuration: vtpass.base_url is a sandbox: live mode refuses to start with it")
	}
	return nil
}

// vtpass is the plug for VTpass, or none where it is not configured.
func (a *App) vtpass() (*vtpass.Plug, error) {
	c := a.cfg.VTpass
	cfg := vtpass.Config{
		ClientConfig: provider.ClientConfig{BaseURL: c.BaseURL},
		APIKey:       c.APIKey.Reveal(), PublicKey: c.PublicKey.Reveal(), SecretKey: c.SecretKey.Reveal(), Phone: c.Phone,
	}
	if a.world != nil {
		cfg = a.world.vtpass()
	}
	if cfg.BaseURL == "" {
		return nil, nil
	}
	cfg.PayDeadline, cfg.ReadDeadline = a.deadlines()
	cfg.Around = a.traced()
	return vtpass.New(cfg)
}

// routes are who sells what, with Safe Haven for what nobody is named for.
func (a *App) routes(billers map[string]provider.Biller) (vtu.Routes, error) {
	routes, err := vtu.ParseRoutes(a.cfg.VTU.Routes)
	if err != nil {
		return nil, fmt.Errorf("configuration: vtu.routes: %w", err)
	}
	for _, name := range routes.Billers() {
		if billers[name] == nil {
			return nil, fmt.Errorf("configuration: vtu.routes names %q, which is not configured", name)
		}
	}
	return routes.Otherwise(bankName), nil
}
