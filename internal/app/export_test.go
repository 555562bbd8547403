package app

import "github.com/prometheus/client_golang/prometheus"

// Registry returns the registry with all metrics of the program.
func (a *App) Registry() *prometheus.Registry { return a.registry }
