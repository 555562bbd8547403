package app

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/figure"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// registerFigures registers the metrics of all parts of the program. The API registers the metrics of
// its requests itself.
func (a *App) registerFigures() {
	all := slices.Concat(a.calls.Metrics(), a.DB.Metrics(), a.Book.Metrics(), a.Events.Metrics(), a.Operators.Metrics(), a.Webhooks.Metrics(), a.Requests.Metrics(),
		a.Operations.Metrics(), a.Crypto.Metrics(), a.Worker.Metrics(), a.Reports.Metrics(a.log), a.wallets.Metrics(a.log),
		[]prometheus.Collector{accessFigure{a}, a.writeFigure(), a.keyringFigure(), certificateFigure{a}})
	for name := range a.plugs.billers {
		a.Operations.CountFromZero(vtu.Kind, name)
	}
	for name := range a.plugs.banks {
		a.Operations.CountFromZero(payout.Kind, name)
	}
	for name := range a.plugs.issuers {
		a.Operations.CountFromZero(card.Kind, name)
	}
	var sources figure.Health
	for _, c := range all {
		if s, ok := c.(*figure.Source); ok {
			sources = append(sources, s)
		}
	}
	a.registry.MustRegister(append(all, sources)...)
}

// writeFigure returns the metric of the last write to the database. Each program writes the epoch
// once a second.
func (a *App) writeFigure() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kobo_database_write_age_seconds", Help: "Time since this program last wrote to the database; 0 before the first write.",
	}, func() float64 {
		if at := a.Deployment.Raised(); !at.IsZero() {
			return a.cfg.machine().Now().Sub(at).Seconds()
		}
		return 0
	})
}

// keyringFigure returns the metric of the state of this program's keyrings.
func (a *App) keyringFigure() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kobo_keyring_wrong", Help: "1 while a keyring of this program lacks a key of the database or cannot be read again, else 0.",
	}, func() float64 {
		if a.Keyring.Wrong() != nil {
			return 1
		}
		return 0
	})
}

// certificateFigure collects the metrics of the certificates of Kobo's own TLS.
type certificateFigure struct{ app *App }

var (
	expiresDesc = prometheus.NewDesc("kobo_certificate_expires_seconds", "Time until the certificate in use expires.", []string{"file"}, nil)
	staleDesc   = prometheus.NewDesc("kobo_certificate_stale", "1 while the certificate's changed files cannot be used, else 0.", []string{"file"}, nil)
)

// Describe sends the descriptions of the metrics.
func (certificateFigure) Describe(to chan<- *prometheus.Desc) {
	to <- expiresDesc
	to <- staleDesc
}

// Collect sends the metrics of each certificate.
func (c certificateFigure) Collect(to chan<- prometheus.Metric) {
	now := c.app.cfg.machine().Now()
	c.app.pairsMu.RLock()
	defer c.app.pairsMu.RUnlock()
	for _, k := range c.app.pairs {
		stale := 0.0
		if k.stale.Load() {
			stale = 1
		}
		to <- prometheus.MustNewConstMetric(expiresDesc, prometheus.GaugeValue, k.current.Load().Leaf.NotAfter.Sub(now).Seconds(), k.certFile)
		to <- prometheus.MustNewConstMetric(staleDesc, prometheus.GaugeValue, stale, k.certFile)
	}
}

// The reasons for which Kobo itself closes API access, as a part of the reason's text and as a label.
var closedByKobo = []struct{ text, label string }{
	{"is an old copy", "old_copy"},
	{"is of another database", "other_database"},
	{"restored from a backup", "restore"},
	{"docs/operating/evidence.md", "evidence"},
}

// closedByOperator is the label for every other reason.
const closedByOperator = "operator"

// whyClosed returns the reason for which API access is closed, as a label of the metrics, or "".
func whyClosed(d operator.Access) string {
	switch {
	case !d.Closed:
		return ""
	case !d.Automatic:
		return closedByOperator
	}
	for _, why := range closedByKobo {
		if strings.Contains(d.Reason, why.text) {
			return why.label
		}
	}
	return closedByOperator
}

var accessDesc = prometheus.NewDesc("kobo_api_access_closed",
	"1 if API access of companies is closed for this reason, else 0.", []string{"why"}, nil)

// accessFigure is a collector that states whether API access is closed.
type accessFigure struct{ *App }

// Describe sends the description of the metric.
func (accessFigure) Describe(out chan<- *prometheus.Desc) { out <- accessDesc }

// Collect sends the metric for each reason.
func (f accessFigure) Collect(out chan<- prometheus.Metric) {
	now, _ := f.shut.Load().(string)
	out <- figure.Flag(accessDesc, now == closedByOperator, closedByOperator)
	for _, why := range closedByKobo {
		out <- figure.Flag(accessDesc, now == why.label, why.label)
	}
}
