package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/figure"
	"github.com/kobo-waas/kobo/internal/money"
)

// walletEvery is the pause between two questions for the balance of a wallet.
const walletEvery = 5 * time.Minute

// Reading is the balance of our wallet at a provider and the time at which the provider reported it.
type Reading struct {
	Balance money.Kobo
	At      time.Time
	Low     money.Kobo // the level from the setting wallet_low; 0 if none is set
}

// Wallets asks the providers for the balances of our wallets, and keeps the last balance of each, as
// this program read it.
type Wallets struct {
	of    map[string]Wallet     // by the provider's name in the configuration
	low   map[string]money.Kobo // the levels from the setting wallet_low, by the same name
	clock clock.Clock

	mu    sync.Mutex
	asked time.Time
	first time.Time // the first time that asked had
	last  map[string]Reading
}

// NewWallets returns wallets that were not read yet. Both maps have the names of the providers in the
// configuration as keys. The map low has the balances below which a wallet counts as low.
func NewWallets(of map[string]Wallet, low map[string]money.Kobo, c clock.Clock) *Wallets {
	return &Wallets{of: of, low: low, clock: c, last: map[string]Reading{}}
}

// due reports whether the balances must be asked for now.
func (w *Wallets) due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.asked.IsZero() && now.Sub(w.asked) < walletEvery {
		return false
	}
	w.asked = now
	if w.first.IsZero() {
		w.first = now
	}
	return true
}

func (w *Wallets) keep(name string, r Reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[name] = r
}

// Last returns the last balance of each wallet, as this program has read it.
func (w *Wallets) Last() map[string]Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.last)
}

// unread returns the time since a wallet was read, or since the first question if the provider has
// never reported the balance. It returns false before the first question.
func (w *Wallets) unread(name string, now time.Time) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.first
	if r, read := w.last[name]; read {
		at = r.At
	}
	return now.Sub(at), !at.IsZero()
}

// Ask asks each provider for the balance of our wallet, every five minutes. In between, it does
// nothing.
func (w *Wallets) Ask(ctx context.Context) error {
	if !w.due(w.clock.Now()) {
		return nil
	}
	var all []error
	for name, one := range w.of {
		balance, err := one.Balance(ctx)
		if err != nil {
			all = append(all, fmt.Errorf("the wallet at %s: %w", name, err))
			continue
		}
		w.keep(name, Reading{balance, w.clock.Now(), w.low[name]})
	}
	return errors.Join(all...)
}

var (
	walletNaira = prometheus.NewDesc("kobo_provider_wallet_naira", "Balance of our wallet at a provider, as this program last read it.", []string{"provider"}, nil)
	walletLow   = prometheus.NewDesc("kobo_provider_wallet_low_naira", "Balance below which our wallet at a provider counts as low, where one is set.", []string{"provider"}, nil)
	walletAge   = prometheus.NewDesc("kobo_provider_wallet_age_seconds", "Time since this program last read the balance of our wallet at a provider, or since the first question if no reply came.", []string{"provider"}, nil)
)

// Metrics returns the gauges of the wallets.
func (w *Wallets) Metrics(log *slog.Logger) []prometheus.Collector {
	read := func(context.Context) (out []prometheus.Metric, err error) {
		now, last := w.clock.Now(), w.Last()
		for name := range w.of {
			if r, read := last[name]; read {
				out = append(out, figure.Naira(walletNaira, int64(r.Balance), name))
			}
			if low := w.low[name]; low > 0 {
				out = append(out, figure.Naira(walletLow, int64(low), name))
			}
			if age, asked := w.unread(name, now); asked {
				out = append(out, figure.Seconds(walletAge, age, name))
			}
		}
		return out, nil
	}
	return []prometheus.Collector{&figure.Source{
		Name: "wallets", Log: log, Descs: []*prometheus.Desc{walletNaira, walletLow, walletAge}, Read: read,
	}}
}
