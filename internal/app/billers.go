package app

import (
	"errors"
	"fmt"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// vtpassName is the name under which the books know VTpass.
const vtpassName = "vtpass"

// VTpassConfig is our account at VTpass. The group stays empty in sandbox mode.
// See docs/providers/vtpass.md.
type VTpassConfig struct {
	BaseURL   string      `koanf:"base_url"`   // `https://vtpass.com/api`. Live mode only. Empty: VTpass is not used.
	APIKey    secret.Text `koanf:"api_key"`    // Key of every call.
	PublicKey secret.Text `koanf:"public_key"` // Key of GET calls, such as the catalogue.
	SecretKey secret.Text `koanf:"secret_key"` // Key of POST calls, such as purchases.
	Phone     string      `koanf:"phone"`      // Phone number, 11 digits, that VTpass may call about TV and power.
}

// VTUConfig is about sales of airtime, data, TV and power.
type VTUConfig struct {
	// The biller of each service that several billers offer, such as `DATA=vtpass,
	// DATA/GLO=safehaven`. A service without a line is Safe Haven's.
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
		ClientConfig: provider.ClientConfig{BaseURL: c.BaseURL}, APIKey: c.APIKey.Reveal(), PublicKey: c.PublicKey.Reveal(), SecretKey: c.SecretKey.Reveal(), Phone: c.Phone,
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
	cfg.PayDeadline, cfg.ReadDeadline = a.deadlines()
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
