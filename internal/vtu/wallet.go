package vtu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/figure"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// walletEvery is the pause between two questions for the balance of a wallet.
const walletEvery = 5 * time.Minute

// reading is the balance of a biller's wallet and the time at which the biller reported it.
type reading struct {
	balance money.Kobo
	at      time.Time
}

// wallets keeps the last balance of each biller's wallet, for the metrics of this program.
type wallets struct {
	mu    sync.Mutex
	asked time.Time
	last  map[string]reading
}

// due reports whether the balances must be asked for now.
func (w *wallets) due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.asked.IsZero() && now.Sub(w.asked) < walletEvery {
		return false
	}
	w.asked = now
	return true
}

func (w *wallets) keep(biller string, r reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]reading{}
	}
	w.last[biller] = r
}

func (w *wallets) all() map[string]reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.last)
}

// AskWallets asks each biller that takes the prices from a wallet for the balance, every five
// minutes.
func (s *Shop) AskWallets(ctx context.Context) error {
	if !s.wallets.due(s.Clock.Now()) {
		return nil
	}
	var all []error
	for name, b := range s.Billers {
		w, has := b.(provider.Wallet)
		if !has {
			continue
		}
		balance, err := w.Balance(ctx)
		if err != nil {
			all = append(all, fmt.Errorf("the wallet at %s: %w", name, err))
			continue
		}
		s.wallets.keep(name, reading{balance, s.Clock.Now()})
	}
	return errors.Join(all...)
}

var (
	walletNaira = prometheus.NewDesc("kobo_provider_wallet_naira", "Balance of our wallet at a biller, as this program last read it.", []string{"provider"}, nil)
	walletAge   = prometheus.NewDesc("kobo_provider_wallet_age_seconds", "Time since this program last read the balance of our wallet at a biller.", []string{"provider"}, nil)
)

// Metrics returns the gauges of the billers' wallets.
func (s *Shop) Metrics(log *slog.Logger) []prometheus.Collector {
	read := func(context.Context) (out []prometheus.Metric, err error) {
		for name, r := range s.wallets.all() {
			out = append(out, figure.Naira(walletNaira, int64(r.balance), name), figure.Seconds(walletAge, s.Clock.Now().Sub(r.at), name))
		}
		return out, nil
	}
	return []prometheus.Collector{&figure.Source{Name: "wallets", Log: log, Descs: []*prometheus.Desc{walletNaira, walletAge}, Read: read}}
}
