package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/knadh/koanf/v2"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

// settingsPath is the path of the control that returns how to call the simulated providers.
const settingsPath = "/sandbox/providers"

// simulatedSettings are the settings with which another program on this machine calls the simulated
// providers. The keys are the names of the providers, and below them the names of the settings.
type simulatedSettings struct {
	CallbackBase string                       `json:"callbackBase"`
	Providers    map[string]map[string]string `json:"providers"`
}

// withSettings adds a control to the sandbox's controls. The control returns the settings of the
// simulated providers, which are no secret.
func (a *App) withSettings(controls http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", controls)
	mux.HandleFunc("GET "+settingsPath, func(w http.ResponseWriter, _ *http.Request) {
		out := simulatedSettings{tatum.CallbackBase, map[string]map[string]string{}}
		for name, p := range a.sandbox.Providers {
			s, ok := p.(interface {
				Settings(address string) (map[string]string, error)
			})
			if !ok {
				continue
			}
			var err error
			if out.Providers[name], err = s.Settings(a.sandbox.address(name)); err != nil {
				refuseControl(w, http.StatusInternalServerError, "Internal Server Error")
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out) // an error means that the client has disconnected
	})
	return mux
}

// settingsLimit is the length in bytes of the longest response that ReachSandbox reads.
const settingsLimit = 1 << 20

// ReachSandbox returns the configuration with the simulated providers of a running Kobo. The address
// is that of the Kobo, and the token is its sandbox_token.
func (c Config) ReachSandbox(ctx context.Context, address string, token secret.Text) (Config, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+settingsPath, http.NoBody)
	if err != nil {
		return c, errors.New("the address of Kobo cannot be read")
	}
	if token.Reveal() != "" {
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	res, err := http.DefaultClient.Do(r)
	var asking *url.Error
	if errors.As(err, &asking) {
		return c, fmt.Errorf("no Kobo answers at %s (start one with: kobo dev): %w", address, asking.Err)
	} else if err != nil {
		return c, err
	}
	defer func() { _ = res.Body.Close() }() // the body was read, so a failed close does no harm
	body, err := io.ReadAll(io.LimitReader(res.Body, settingsLimit))
	var found simulatedSettings
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the Kobo at %s does not show its sandbox: HTTP %d: %s", address, res.StatusCode, provider.Message(string(body)))
	} else if err == nil && (json.Unmarshal(body, &found) != nil || len(found.Providers) == 0) {
		err = fmt.Errorf("the server at %s is not a Kobo in sandbox mode", address)
	}
	if err != nil {
		return c, err
	}
	return c.simulated(address, found)
}

// simulated returns the configuration with the settings of simulated providers.
func (c Config) simulated(address string, found simulatedSettings) (Config, error) {
	accounts := c.accounts()
	c.PublicURL, c.CallbackBase = address, found.CallbackBase
	c.Providers, c.Banks = maps.Clone(c.Providers), maps.Clone(c.Banks)
	k := koanf.New(".")
	for name, settings := range found.Providers {
		if accounts[name] == nil {
			return c, fmt.Errorf("the Kobo at %s has the provider %q, and this configuration has not: use the same configuration", address, name)
		}
		into := c.Providers
		if c.Banks[name] != nil {
			into = c.Banks
		}
		for setting, value := range settings {
			if err := k.Set(name+"."+setting, value); err != nil {
				return c, err
			}
		}
		if err := group(k, name, into, name, accounts[name]); err != nil {
			return c, err
		}
	}
	return c, nil
}
