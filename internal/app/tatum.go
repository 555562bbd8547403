package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	simulated "github.com/kobo-waas/kobo/internal/provider/sandbox/tatum"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

func init() { register("tatum", TatumConfig{}) }

// tatumPath is the URL path that receives Tatum's notifications. Their signature proves the
// sender, so the path contains no secret.
const tatumPath = "/callbacks/tatum"

// tatumAddress is Tatum's address for main networks and for test networks.
const tatumAddress = "https://api.tatum.io"

// TatumConfig is our account at Tatum, which watches deposit addresses. The group
// stays empty in sandbox mode. See docs/providers/tatum.md.
type TatumConfig struct {
	BaseURL    string      `koanf:"base_url"`    // Empty: `https://api.tatum.io`, which also serves test networks.
	APIKey     secret.Text `koanf:"api_key"`     // Without it, networks that have no node are inactive.
	HMACSecret secret.Text `koanf:"hmac_secret"` // 16 to 100 characters. Signs Tatum's notifications.
	// `true` has Tatum derive each address too. An address is given out only if both agree.
	RemoteAddresses bool `koanf:"remote_addresses"`
}

func (c TatumConfig) check(m Mode, _ string) error {
	switch {
	case m == Sandbox && c.BaseURL+c.APIKey.Reveal() != "":
		return errors.New("configuration: tatum.… is for live mode and staging mode: the sandbox brings its own provider")
	case c.APIKey.Reveal() == "":
		return nil
	}
	_, err := tatum.New(c.plug(validAddress), clock.System{}) // a wrong callback_base is reported separately
	return errors.Join(m.checkSystem("tatum.base_url", c.BaseURL), prefixed("", err))
}

// plug converts the settings to the configuration of the plug. The argument callbackBase is the URL
// at which Tatum reaches the program.
func (c TatumConfig) plug(callbackBase string) tatum.Config {
	return tatum.Config{
		ClientConfig: provider.ClientConfig{BaseURL: cmp.Or(c.BaseURL, tatumAddress)}, APIKey: c.APIKey, HMACSecret: c.HMACSecret,
		CallbackURL: callbackBase + tatumPath, RemoteAddresses: c.RemoteAddresses,
	}
}

func (TatumConfig) systems() []systems { return []systems{{live: tatumAddress, staging: tatumAddress}} }

func (TatumConfig) simulated() books.Provider { return &simulated.Custodian{} }

// connect makes Tatum watch the networks that none of our nodes watches.
func (c TatumConfig) connect(a *App, name string, p *plugs) error {
	cfg := c.plug(a.cfg.CallbackBase)
	if s, ok := a.sandbox.provider(name).(*simulated.Custodian); ok {
		cfg = s.PlugConfig(a.sandbox.address(name))
	}
	if cfg.APIKey.Reveal() == "" {
		return nil
	}
	cfg.Networks, cfg.Around, cfg.Meter = p.custody.unwatched(), a.around(name, cfg.BaseURL), a.calls.Of(name)
	cfg.Elsewhere = p.custody.networks
	_, cfg.ReadDeadline = a.deadlines()
	plug, err := tatum.New(cfg, a.Clock)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	watch := crypto.Custody{Name: name, Plug: plug}
	for _, n := range cfg.Networks {
		watch.Networks = append(watch.Networks, n.ID)
	}
	p.custody.plugs = append(p.custody.plugs, watch)
	return nil
}

func (TatumConfig) mount(a *App, name string, at map[string]http.Handler) {
	at["POST "+tatumPath] = a.Crypto.CallbackHandler(name)
}
