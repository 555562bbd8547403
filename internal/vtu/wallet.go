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

// Reading is the balance of a biller's wallet and the time at which the biller reported it.
type Reading struct {
	Balance money.Kobo
	At      time.Time
	Low     money.Kobo // the level from the setting wallet_low; 0 if none is set
}

// wallets keeps the last balance of each biller's wallet, as this program read it.
type wallets struct {
	mu    sync.Mutex
	asked time.Time
	first time.Time // the first time that asked had
	last  map[string]Reading
}

// due reports whether the balances must be asked for now.
func (w *wallets) due(now time.Time) bool {
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

func (w *wallets) keep(biller string, r Reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]Reading{}
	}
	w.last[biller] = r
}

// Wallets returns the last balance of each biller's wallet, as this program has read it.
func (s *Shop) Wallets() map[string]Reading {
	s.wallets.mu.Lock()
	defer s.wallets.mu.Unlock()
	return maps.Clone(s.wallets.last)
}

// unread returns the time since the wallet of a biller was read, or since the first question if the
// biller has never reported the balance. It returns false before the first question.
func (w *wallets) unread(biller string, now time.Time) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.first
	if r, read := w.last[biller]; read {
		at = r.At
	}
	return now.Sub(at), !at.IsZero()
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
		s.wallets.keep(name, Reading{balance, s.Clock.Now(), s.WalletLow[name]})
	}
	return errors.Join(all...)
}

var (
	walletNaira = prometheus.NewDesc("kobo_provider_wallet_naira", "Balance of our wallet at a biller, as this program last read it.", []string{"provider"}, nil)
	walletLow   = prometheus.NewDesc("kobo_provider_wallet_low_naira", "Balance below which our wallet at a biller counts as low, where one is set.", []string{"provider"}, nil)
	walletAge   = prometheus.NewDesc("kobo_provider_wallet_age_seconds", "Time since this program last read the balance of our wallet at a biller, or since the first question if no reply came.", []string{"provider"}, nil)
)

// Metrics returns the gauges of the billers' wallets.
func (s *Shop) Metrics(log *slog.Logger) []prometheus.Collector {
	read := func(context.Context) (out []prometheus.Metric, err error) {
		now, last := s.Clock.Now(), s.Wallets()
		for name, b := range s.Billers {
			if _, has := b.(provider.Wallet); !has {
				continue
			}
			if r, read := last[name]; read {
				out = append(out, figure.Naira(walletNaira, int64(r.Balance), name))
			}
			if low := s.WalletLow[name]; low > 0 {
				out = append(out, figure.Naira(walletLow, int64(low), name))
			}
			if age, asked := s.wallets.unread(name, now); asked {
				out = append(out, figure.Seconds(walletAge, age, name))
			}
		}
		return out, nil
	}
	return []prometheus.Collector{&figure.Source{
		Name: "wallets", Log: log, Descs: []*prometheus.Desc{walletNaira, walletLow, walletAge}, Read: read,
	}}
}
