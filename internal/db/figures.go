package db

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/figure"
)

// poolState describes one pool of connections.
type poolState struct {
	name       string
	used, most int64
	waits      int64         // how often a caller has waited for a connection
	waited     time.Duration // the sum of these waits
}

// laneNames are the names of the lanes in the metrics.
var laneNames = map[lane]string{working: "work", reading: "reads", heavy: "heavy", probing: "probe"}

func (p *postgres) pools() (all []poolState) {
	all = poolStates(p.apart, "")
	p.nodes.mu.Lock()
	defer p.nodes.mu.Unlock()
	for name, n := range p.nodes.named {
		all = append(all, poolStates(n.pools, " "+name)...)
	}
	return all
}

// poolStates describes the pools of connections to a server. The name of the server follows the names of
// the lanes.
func poolStates(pools map[lane]*pgxpool.Pool, server string) (all []poolState) {
	for l, pool := range pools {
		s := pool.Stat()
		all = append(all, poolState{
			laneNames[l] + server, int64(s.AcquiredConns()), int64(s.MaxConns()), s.EmptyAcquireCount(), s.EmptyAcquireWaitTime(),
		})
	}
	return all
}

func (s *lite) pools() []poolState {
	w, r := s.write.Stats(), s.read.Stats()
	return []poolState{
		{laneNames[working], int64(w.InUse), int64(w.MaxOpenConnections), w.WaitCount, w.WaitDuration},
		{laneNames[reading], int64(r.InUse), int64(r.MaxOpenConnections), r.WaitCount, r.WaitDuration},
	}
}

var (
	poolLabel  = []string{"pool"}
	poolUsed   = prometheus.NewDesc("kobo_database_connections_used", "Connections to the database that are in use, by pool.", poolLabel, nil)
	poolMost   = prometheus.NewDesc("kobo_database_connections_max", "The largest number of connections to the database, by pool.", poolLabel, nil)
	poolWaits  = prometheus.NewDesc("kobo_database_waits_total", "How often work waited for a connection, by pool.", poolLabel, nil)
	poolWaited = prometheus.NewDesc("kobo_database_wait_seconds_total", "How long work waited for connections, by pool.", poolLabel, nil)
)

// poolFigures is a collector of the metrics of all pools.
type poolFigures struct{ engine }

var replicaReads = prometheus.NewDesc("kobo_database_replica_reads_total", "Reads that a replica could have answered, by the server that answered: replica or primary.",
	[]string{"server"}, nil)

// reads returns how many reads the replica has answered, and how many the primary in its place.
func (p *postgres) reads() (answered, missed int64) {
	if p.replica == nil {
		return 0, 0
	}
	return p.replica.answered.Load(), p.replica.missed.Load()
}

func (s *lite) place(string) string { return "" }

func (s *lite) isRouted() bool { return false }

func (s *lite) reads() (answered, missed int64) { return 0, 0 }

// Metrics returns the metrics of this program's connections to the database.
func (d *DB) Metrics() []prometheus.Collector { return []prometheus.Collector{poolFigures{d.engine}} }

// Describe sends the descriptions of the metrics that Collect sends.
func (poolFigures) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolUsed, poolMost, poolWaits, poolWaited, replicaReads} {
		out <- d
	}
}

// Collect sends the metrics of all pools.
func (f poolFigures) Collect(out chan<- prometheus.Metric) {
	for _, p := range f.pools() {
		out <- figure.Count(poolUsed, p.used, p.name)
		out <- figure.Count(poolMost, p.most, p.name)
		out <- figure.Total(poolWaits, p.waits, p.name)
		out <- figure.SecondsTotal(poolWaited, p.waited, p.name)
	}
	answered, missed := f.reads()
	out <- figure.Total(replicaReads, answered, "replica")
	out <- figure.Total(replicaReads, missed, "primary")
}
