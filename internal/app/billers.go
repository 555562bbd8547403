package app

import (
	"errors"
	"fmt"

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
	switch {
	case c.BaseURL == "":
		return nil
	case m == Sandbox:
		return errors.New("configuration: vtpass.base_url is for live mode: the sandbox brings its own provider")
	}
	plug := c.plug()
	wrong := checkReal("vtpass.base_url", c.BaseURL)
	if wrong != nil {
		plug.BaseURL = aRealAddress
	}
	_, err := vtpass.New(plug)
	return errors.Join(wrong, about("", err))
}

// plug is the plug's own configuration.
func (c VTpassConfig) plug() vtpass.Config {
	return vtpass.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey.Reveal(), PublicKey: c.PublicKey.Reveal(), SecretKey: c.SecretKey.Reveal(), Phone: c.Phone,
	}
}

// vtpass is the plug for VTpass, or none where it is not configured.
func (a *App) vtpass() (*vtpass.Plug, error) {
	cfg := a.cfg.VTpass.plug()
	if a.world != nil {
		cfg = a.world.vtpass()
	}
	if cfg.BaseURL == "" {
		return nil, nil
	}
	cfg.Deadline, cfg.ReadDeadline = a.deadlines()
	cfg.Around = a.traced()
	return vtpass.New(cfg)
}

// routes are who sells what, with Safe Haven for what nobody is named for.
func (c Config) routes() (vtu.Routes, error) {
	routes, err := vtu.ParseRoutes(c.VTU.Routes)
	all := []error{about("vtu.routes: ", err)}
	for _, name := range routes.Billers() {
		if name != bankName && (name != vtpassName || c.Mode != Sandbox && c.VTpass.BaseURL == "") {
			all = append(all, fmt.Errorf("configuration: vtu.routes names %q, which is not configured", name))
		}
	}
	return routes.Otherwise(bankName), errors.Join(all...)
}

func (c Config) checkRoutes() error {
	_, err := c.routes()
	return err
}
