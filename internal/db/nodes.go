package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// nodes knows the servers of a PostgreSQL that divides its tables by company, with the extension Citus.
// Each server is a node. Each node accepts each SQL statement, and forwards it to the node that holds the
// rows. A statement is cheap only at the node that holds them. So the program has connections to each
// node, and a map of which node holds which companies.
//
// The map may be stale. Then statements are forwarded, and only cost more.
type nodes struct {
	known   atomic.Bool // whether the kind of the database is known
	divided atomic.Bool // whether the database divides its tables by company
	where   atomic.Pointer[[]shard]
	stale   chan struct{} // has a value if the map should be read again
	watch   sync.WaitGroup

	mu    sync.Mutex
	named map[string]*node // by the name of the node
}

// node is a server, with connections to it.
type node struct {
	name  string
	pools map[lane]*pgxpool.Pool
}

// shard is a range of the hashes of companies, and the node that holds these companies. The node is nil
// if it is the server to which the database's URL leads.
type shard struct {
	last int32 // the largest hash
	node *node
}

// nodesLook is the time between two looks at the map.
const nodesLook = 5 * time.Second

const (
	hasNodesSQL = `SELECT to_regclass('pg_catalog.pg_dist_node') IS NOT NULL`
	dividedSQL  = `SELECT count(*) > 1 FROM pg_dist_node`
	shardsSQL   = `SELECT s.shardmaxvalue::bigint, n.nodename::text, n.nodeport::bigint, n.groupid = l.groupid
		FROM pg_dist_local_group AS l, pg_dist_shard AS s
		JOIN pg_dist_placement AS p ON p.shardid = s.shardid
		JOIN pg_dist_node AS n ON n.groupid = p.groupid AND n.noderole = 'primary' AND n.isactive
		WHERE s.logicalrelid = to_regclass('ledger_head') ORDER BY 1`
)

// ErrDivided means that the database is a Citus with several nodes, and Pools.Undivided refuses one.
var ErrDivided = errors.New("the database is a Citus with several nodes, and its support is experimental: see docs/scaling.md, and set experimental_citus to use it")

// recognise finds out whether a connection leads to a database that divides its tables. It asks only
// until it knows.
func (p *postgres) recognise(ctx context.Context, c *pgx.Conn) error {
	if p.nodes.known.Load() {
		return nil
	}
	var divided bool
	err := c.QueryRow(ctx, hasNodesSQL).Scan(&divided)
	if err == nil && divided {
		err = c.QueryRow(ctx, dividedSQL).Scan(&divided)
	}
	if err != nil {
		return err
	}
	if divided && p.undivided {
		return ErrDivided
	}
	p.nodes.mu.Lock()
	defer p.nodes.mu.Unlock()
	if p.nodes.known.Load() {
		return nil
	}
	if divided {
		if err := p.readShards(ctx, c); err != nil {
			return err
		}
		p.nodes.divided.Store(true)
		p.nodes.watch.Go(p.lookAtNodes)
	}
	p.nodes.known.Store(true)
	return nil
}

// refresh lets a connection that leaves its pool discard outdated plans. Some releases of Citus plan a statement
// at each execution although they have a plan, and keep each of these plans: about 50 kB for each execution.
func (p *postgres) refresh(ctx context.Context, c *pgx.Conn) (usable bool, err error) {
	if !p.nodes.divided.Load() || !p.outdated(c.PgConn().CustomData()) {
		return true, nil
	}
	_, err = c.Exec(ctx, "DISCARD PLANS")
	return err == nil, nil // the pool replaces a connection that is not usable
}

// isRouted reports whether a statement about several companies asks several nodes.
func (p *postgres) isRouted() bool { return p.routed || p.nodes.divided.Load() }

// place returns the name of the node that holds a company.
func (p *postgres) place(company string) string {
	if n := p.nodes.holder(company); n != nil {
		return n.name
	}
	return ""
}

// holder returns the node that holds a company. It returns nil if the database is not divided, and if
// the node is the server to which the database's URL leads.
func (n *nodes) holder(company string) *node {
	where := n.where.Load()
	if where == nil || len(*where) == 0 {
		return nil
	}
	if i := shardOf(*where, company); i < len(*where) {
		return (*where)[i].node
	}
	return nil
}

// shardOf returns the position of the shard that holds a company.
func shardOf(where []shard, company string) int {
	i, _ := slices.BinarySearchFunc(where, hashOf(company), func(s shard, hash int32) int {
		if s.last < hash {
			return -1
		}
		return 1
	})
	return i
}

type companyKey struct{}

// At returns a context for work about the rows of one company. SQL statements with this context run at
// the node that holds the company. If the database is not divided, At returns ctx itself.
func (d *DB) At(ctx context.Context, company string) context.Context {
	p, ok := d.engine.(*postgres)
	if !ok || company == "" || !p.nodes.divided.Load() {
		return ctx
	}
	return context.WithValue(ctx, companyKey{}, company)
}

// at returns the pool of a lane at the node that holds the company of a context.
func (p *postgres) at(ctx context.Context, l lane) *pgxpool.Pool {
	if p.nodes.divided.Load() {
		company, _ := ctx.Value(companyKey{}).(string)
		if company != "" {
			if n := p.nodes.holder(company); n != nil {
				return n.in(l)
			}
		}
	}
	return p.in(l)
}

// in returns the pool of a lane. With few connections, all lanes share one pool.
func (n *node) in(l lane) *pgxpool.Pool {
	if pool := n.pools[l]; pool != nil {
		return pool
	}
	return n.pools[working]
}

// probe returns the pool through which the server of a connection can be asked about that connection.
func (p *postgres) probe(of *node) *pgxpool.Pool {
	if of != nil {
		return of.in(reading)
	}
	return p.in(probing)
}

// lookAtNodes reads the map again and again, and at once after an error of a node.
func (p *postgres) lookAtNodes() {
	again := time.NewTicker(nodesLook)
	defer again.Stop()
	for {
		select {
		case <-p.ended.Done():
			return
		case <-again.C:
		case <-p.nodes.stale:
		}
		p.lookOnce()
	}
}

// lookOnce reads the map. If that fails, the present map stays in use.
func (p *postgres) lookOnce() {
	ctx, cancel := context.WithTimeout(p.ended, nodesLook)
	defer cancel()
	conn, err := p.in(probing).Acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	p.nodes.mu.Lock()
	defer p.nodes.mu.Unlock()
	_ = p.readShards(ctx, conn.Conn()) // ignored, because a stale map only costs time
}

// doubt lets the map be read again soon.
func (n *nodes) doubt() {
	select {
	case n.stale <- struct{}{}:
	default: // it will be read already
	}
}

// readShards reads the map, and makes pools for new nodes. It needs the lock of the nodes.
func (p *postgres) readShards(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, shardsSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	var where []shard
	used := map[string]bool{}
	for rows.Next() {
		var last, port int64
		var host string
		var own bool
		if err := rows.Scan(&last, &host, &port, &own); err != nil {
			return err
		}
		s := shard{last: int32(last)}
		if !own {
			if s.node, err = p.nodeAt(host, port); err != nil {
				return err
			}
			used[s.node.name] = true
		}
		where = append(where, s)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	p.nodes.where.Store(&where)
	p.leaveNodes(used)
	return nil
}

// leaveNodes closes the connections to nodes that hold nothing any more.
func (p *postgres) leaveNodes(used map[string]bool) {
	for name, n := range p.nodes.named {
		if !used[name] {
			delete(p.nodes.named, name)
			p.leaving.Go(n.close)
		}
	}
}

func (n *node) close() {
	for _, pool := range n.pools {
		pool.Close()
	}
}

func (n *node) reset() {
	for _, pool := range n.pools {
		pool.Reset()
	}
}

// nodeAt returns the node with an address. Its connections have the user, the database and the
// parameters of the database's URL.
func (p *postgres) nodeAt(host string, port int64) (*node, error) {
	name := net.JoinHostPort(host, strconv.FormatInt(port, 10))
	if n := p.nodes.named[name]; n != nil {
		return n, nil
	}
	u, err := url.Parse(p.address)
	if err != nil {
		return nil, errUnreadable
	}
	u.Host = name
	q := u.Query()
	for _, server := range []string{"host", "port", "target_session_attrs"} {
		q.Del(server)
	}
	u.RawQuery = q.Encode()
	cfg, err := poolConfig(u.String())
	if err != nil {
		return nil, err
	}
	n := &node{name: name, pools: map[lane]*pgxpool.Pool{}}
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { return p.attend(c, nil, n) }
	broke := func(c *pgx.Conn) {
		if c.IsClosed() {
			n.reset()
			p.nodes.doubt()
		}
	}
	for l, size := range p.sizes {
		if l == probing {
			continue // only the server of the URL is asked whether the database responds
		}
		if n.pools[l], err = p.pooled(cfg, l, size, broke); err != nil {
			n.close()
			return nil, fmt.Errorf("db: %s: %w", name, err)
		}
	}
	p.nodes.named[name] = n
	return n, nil
}

// close ends the look at the nodes and closes all connections to them.
func (n *nodes) close() {
	n.watch.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.named {
		one.close()
	}
}
