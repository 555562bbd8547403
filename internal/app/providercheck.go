package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// checkTime limits the checks of all providers, which run concurrently.
const checkTime = 3 * time.Minute

// CheckProviders asks the configured providers everything that is free, and returns a result for each
// check. It needs no database. A name limits the checks to one provider. The exchanges are stored in
// the folder record, unless it is "".
func (c Config) CheckProviders(ctx context.Context, name, record string) ([]provider.Checked, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	taps := map[string]*provider.Tap{}
	a := &App{cfg: c, log: slog.New(slog.DiscardHandler), Clock: clock.System{}, calls: provider.NewFigures()}
	a.tap = func(name, address string) *provider.Tap {
		t := &provider.Tap{Base: address, Private: isNode(name), Clock: a.Clock}
		if record != "" {
			t.Record = recorder(record, name, a.Clock)
		}
		taps[name] = t
		return t
	}
	p, err := a.connect()
	if err != nil {
		return nil, err
	}
	names, err := c.checkable(p, name)
	if err != nil {
		return nil, err
	}
	if err := emptyFolder(record); err != nil {
		return nil, err
	}
	all := make([][]provider.Checked, len(names))
	var running sync.WaitGroup
	for i, one := range names {
		running.Go(func() { all[i] = provider.RunChecks(ctx, one, c.checks(p, one, taps[one], name != "")) })
	}
	running.Wait()
	for _, t := range taps {
		err = errors.Join(err, t.Failed())
	}
	return slices.Concat(all...), err
}

func isNode(name string) bool { return strings.HasPrefix(name, "node:") }

// checkable returns the names of the providers to check: one, or all.
func (c Config) checkable(p plugs, name string) ([]string, error) {
	known := slices.Collect(maps.Keys(c.accounts()))
	for _, custody := range p.custody.plugs {
		known = append(known, custody.Name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case name == "":
		return known, nil
	case !slices.Contains(known, name):
		return nil, fmt.Errorf("there is no provider %q: name one of %s", name, strings.Join(known, ", "))
	}
	return []string{name}, nil
}

// checks returns the checks of one provider. Named is true if the command line names it.
func (c Config) checks(p plugs, name string, t *provider.Tap, named bool) []provider.Check {
	plug, connected := p.checker(name)
	if !connected {
		return []provider.Check{{Name: "configured", Action: "Set the settings of " + name + " (docs/settings.md).", Ask: func(context.Context) (string, error) {
			if named {
				return "", errors.New("the provider is not configured")
			}
			return "", provider.Skip("the provider is not configured")
		}}}
	}
	out := []provider.Check{
		{
			Name: "host", Ask: t.CheckHost, Needed: true,
			Action: "See that this machine may connect to the provider's host, and that base_url is right.",
		},
		{
			Name: "clock", Ask: t.CheckClock,
			Action: "Synchronise this machine's clock (NTP). In a sandbox, its clock was moved: kobo dev --fresh sets it back.",
		},
	}
	if !isNode(name) {
		out = append(out,
			provider.Check{
				Name: "environment", Ask: func(context.Context) (string, error) { return c.checkEnvironmentOf(name, t.Base) },
				Action: "See that mode, base_url and the credentials belong to the same system of the provider.",
			},
			provider.Check{
				Name: "webhook", Ask: func(ctx context.Context) (string, error) { return c.checkWebhook(ctx, name) },
				Action: "Set callback_base to the address at which the provider reaches this Kobo, start Kobo, and let the proxy forward /callbacks/.",
			})
	}
	out = append(out, plug.Checks()...)
	if p.banks[name].Bank != nil && !slices.Contains(p.routes.Names(), name) {
		out = slices.DeleteFunc(out, func(c provider.Check) bool { return c.Name == "catalogue" || c.Name == "sale_lookup" }) // it sells nothing
	}
	return out
}

// checker returns the plug of a provider.
func (p plugs) checker(name string) (provider.Checker, bool) {
	for _, plug := range []any{p.banks[name].Bank, p.billers[name], p.issuers[name]} {
		if c, ok := plug.(provider.Checker); ok {
			return c, true
		}
	}
	for _, custody := range p.custody.plugs {
		if c, ok := custody.Plug.(provider.Checker); ok && custody.Name == name {
			return c, true
		}
	}
	return nil, false
}

// checkEnvironmentOf compares the system of a provider with the mode, as far as the settings show it.
func (c Config) checkEnvironmentOf(name, address string) (string, error) {
	if c.Mode.rules().simulates {
		return "the simulated provider of a sandbox", nil
	}
	account := c.accounts()[name]
	if bank, ok := account.(SafeHavenConfig); ok {
		for mode := range modes {
			if mode != c.Mode && bank.BankCode != "" && bank.BankCode == safeHavenBankCodes.of(mode) {
				return "", fmt.Errorf("bank_code is that of %s mode, and the mode is %s", mode, c.Mode)
			}
		}
	}
	u, err := url.Parse(address)
	own, known := account.(interface{ systems() []systems })
	if err != nil || !known {
		return "", provider.Skip("the address does not show it")
	}
	for _, s := range own.systems() {
		if expected, err := url.Parse(s.of(c.Mode)); err == nil && expected.Host == u.Host {
			return fmt.Sprintf("%s is the system for %s mode", u.Host, c.Mode), nil
		}
	}
	return "", provider.Warn("%s is not the provider's usual system for %s mode", u.Host, c.Mode)
}

// checkWebhook asks for the path of a provider's notifications, as the provider does, and checks that
// Kobo answers there.
func (c Config) checkWebhook(ctx context.Context, name string) (string, error) {
	base := c.CallbackBase
	if c.Mode.rules().simulates {
		base = c.PublicURL // the simulated providers are on the same machine
	}
	u, err := url.Parse(base)
	switch {
	case base == "" || err != nil:
		return "", provider.Skip("callback_base is not set")
	case provider.IsLocal(u) && !c.Mode.rules().simulates:
		return "", provider.Skip("callback_base is this machine, which the provider cannot reach")
	}
	var refused struct{ Status string }
	res, err := getJSON(ctx, base+"/callbacks/"+name, &refused)
	if err != nil {
		return "", err
	}
	// A callback is a POST. Kobo refuses a GET in its own words, and numbers each request.
	if res.StatusCode != http.StatusMethodNotAllowed || refused.Status != "error" || res.Header.Get("X-Request-Id") == "" {
		return "", fmt.Errorf("%s answers with HTTP %d, which is not Kobo's answer", u.Host, res.StatusCode)
	}
	var health struct{ Environment string }
	if _, err = getJSON(ctx, base+"/healthz", &health); err != nil {
		return "", err
	}
	if own := string(c.Mode.Environment()); health.Environment != "" && health.Environment != own {
		return "", fmt.Errorf("the Kobo at %s belongs to the environment %s, and this one to %s", u.Host, health.Environment, own)
	}
	return "Kobo answers at " + u.Host, nil
}

// getJSON sends a GET and decodes the response into v, if it is JSON. It does not follow a redirect,
// because providers do not.
func getJSON(ctx context.Context, address string, v any) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		return nil, provider.WithoutURL(err)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, settingsLimit))
	if err == nil {
		_ = json.Unmarshal(body, v) // any other text leaves v empty
	}
	return res, errors.Join(err, res.Body.Close())
}

// emptyFolder makes the folder for the recorded exchanges. It refuses a folder with files, because
// the files of two runs could not be told apart.
func emptyFolder(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(path)
	if err == nil && len(files) > 0 {
		err = fmt.Errorf("%s is not empty: name a new folder for the exchanges", path)
	}
	return err
}

// recorder returns a function that stores each exchange of a provider in a file of its own.
func recorder(folder, name string, clk clock.Clock) func(provider.Exchange) error {
	var mu sync.Mutex
	written := 0
	return func(e provider.Exchange) error {
		mu.Lock()
		defer mu.Unlock()
		written++
		e.Provider, e.At = name, clock.Text(clk.Now())
		var text bytes.Buffer
		lines := json.NewEncoder(&text)
		lines.SetIndent("", "  ")
		lines.SetEscapeHTML(false)
		if err := lines.Encode(e); err != nil {
			return err
		}
		file := fmt.Sprintf("%s-%03d.json", strings.ReplaceAll(name, ":", "-"), written)
		return os.WriteFile(filepath.Join(folder, file), text.Bytes(), 0o600)
	}
}
