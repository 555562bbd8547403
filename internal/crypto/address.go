package crypto

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/quota"
)

// WatchJob is the kind of job that asks the custodian to watch an address, if the request that
// generated the address could not do so, or if a different custodian watches the network now. The
// job's subject identifies the address.
const WatchJob = "crypto.watch"

const (
	// watchWithin is how long a request waits until the custodian watches its address.
	watchWithin = 30 * time.Second
	// contenders is how often a request tries to take a derivation index before it gives up. A try
	// fails if a concurrent request takes the same index.
	contenders = 100
)

// The states of an address. It is RESERVED until the custodian watches it.
const (
	reserved = "RESERVED"
	watched  = "WATCHED"
)

// Generation is a company's request for a deposit address.
type Generation struct {
	Company   string
	NetworkID string
	Label     string
	Key       *idempotency.Key // from the Idempotency-Key header; nil without this header
}

// Generate creates a new address for the company on a network. The company sees the address only
// after the custodian has begun to watch it, because Kobo would miss deposits before that time.
// custodian does not watch the address yet, Generate returns a fault of kind Unavailable. A job
// then asks the custodian again, and the address appears on the company's list later.
func (s *Service) Generate(ctx context.Context, g Generation) (Address, error) {
	n, known := s.networks[g.NetworkID]
	if !known {
		return Address{}, errNoNetwork
	}
	custody, looked := s.custodies[s.custodyOf[n.ID]]
	if !looked || n.Inactive {
		return Address{}, fault.New(fault.Refused, "Network is not active").With(fault.NetworkInactive)
	}
	a, err := s.reserve(ctx, n, custody, g)
	if err != nil {
		return Address{}, err
	}
	return a, s.watch(ctx, a, g.Key)
}

// Resume returns the address for a retry with the same Idempotency-Key. The first request took a
// derivation index, but ended before its response was stored.
func (s *Service) Resume(ctx context.Context, company, subject string, key *idempotency.Key) (Address, error) {
	a, err := s.subject(ctx, company, subject)
	if err != nil {
		return Address{}, err
	}
	return a, s.watch(ctx, a, key)
}

// reserve takes the next derivation index of the company's key and stores the address in the same
// commit. If two requests take the same index, the ledger refuses the second request. The second
// request then takes the following index.
func (s *Service) reserve(ctx context.Context, n chain.Network, custody Custody, g Generation) (Address, error) {
	turn, _ := s.turns.LoadOrStore(g.Company, new(sync.Mutex)) // a program runs the requests of a company one by one
	turn.(*sync.Mutex).Lock()
	defer turn.(*sync.Mutex).Unlock()
	k, err := s.key(ctx, g.Company, n.Kind)
	if err != nil {
		return Address{}, err
	}
	for range contenders {
		index, err := s.nextIndex(ctx, k)
		if err != nil {
			return Address{}, err
		}
		now := s.Clock.Now()
		a := Address{
			Company: g.Company, KeyID: k.ID, Index: index, NetworkID: n.ID, Chain: n.Chain, Name: n.Name,
			Label: g.Label, CreatedAt: now, updatedAt: now, state: reserved, custody: custody.Name,
		}
		if a.Address, err = custody.Plug.Address(ctx, n, k.Public, index); err != nil {
			return Address{}, unavailable(err)
		}
		// The owner is written into the directory of all companies before the address's row is
		// written. Every deposit can therefore be matched with its company.
		owner, err := s.enterAddress(ctx, n.ID, n.Fold(a.Address), a.Company)
		if err == nil && owner != a.Company {
			err = fmt.Errorf("crypto: address %d of key %s of company %s belongs to company %s", a.Index, a.KeyID, a.Company, owner)
		}
		if err != nil {
			return Address{}, err
		}
		u := ledger.For(g.Company)
		if err := quota.Count(ctx, s.DB, &u, quota.CryptoAddress, now); err != nil {
			return Address{}, err
		}
		u.Insert(addressTable.Record(a))
		g.Key.Begin(&u, a.subject(), now.Add(watchWithin))
		u.Append(a.watchJob(a.custody, now.Add(watchWithin)))
		err = s.Book.Commit(ctx, u)
		if ledger.Is(err, ledger.Exists, addressTable.Table) {
			continue
		}
		return a, quota.Reached(idempotency.Taken(err), now)
	}
	return Address{}, fault.New(fault.Unavailable, "Service temporarily unavailable")
}

func (a Address) watchJob(custody string, at time.Time) db.Record {
	return job.Job{Kind: WatchJob, Subject: a.subject(), Provider: custody, RunAt: at}.For(a.Company)
}

// subject returns the text that identifies the address in jobs and Idempotency-Keys.
func (a Address) subject() string { return a.KeyID + "/" + strconv.FormatInt(a.Index, 10) }

// subject returns the address that a subject identifies.
func (s *Service) subject(ctx context.Context, company, subject string) (Address, error) {
	cut := strings.LastIndexByte(subject, '/')
	index, err := strconv.ParseInt(subject[cut+1:], 10, 64)
	if cut < 0 || err != nil {
		return Address{}, fmt.Errorf("crypto: no address is named %q", subject)
	}
	return s.findAddress(ctx, company, subject[:cut], index)
}

// watch asks the custodian to watch the address. It stores the new state of the address and the
// response to the request in the same unit.
func (s *Service) watch(ctx context.Context, a Address, key *idempotency.Key) error {
	u := ledger.For(a.Company)
	key.Finish(&u, a, nil)
	if !s.isWatched(a) {
		custody, reference, err := s.subscribe(ctx, a)
		if err != nil {
			s.Log.Warn("an address is not watched yet", "company", a.Company, "address", a.subject(), "error", err)
			return unavailable(err)
		}
		now := a
		now.state, now.custody, now.reference, now.updatedAt = watched, custody, reference, s.Clock.Now()
		u.Transition(addressTable.Record(now), a.state).Expect("custody", a.custody)
	}
	for {
		if u.IsEmpty() {
			return nil
		}
		err := s.Book.Commit(ctx, u)
		r := ledger.Refused(err)
		if r == nil || r.Reason != ledger.Moved {
			return err
		}
		if r.Table != addressTable.Table {
			return idempotency.ErrInFlight
		}
		u = ledger.For(a.Company) // the job has already stored the new state, so only the response is stored
		key.Finish(&u, a, nil)
	}
}

// isWatched reports whether the custodian that now watches the network watches the address.
func (s *Service) isWatched(a Address) bool {
	custody := s.custodyOf[a.NetworkID]
	return a.state == watched && (custody == a.custody || custody == "")
}

// subscribe asks the custodian that now watches the network to watch the address. It returns the
// custodian's name and the custodian's reference.
func (s *Service) subscribe(ctx context.Context, a Address) (custody, reference string, err error) {
	custody = s.custodyOf[a.NetworkID]
	c, looked := s.custodies[custody]
	if !looked {
		return "", "", fmt.Errorf("crypto: no custodian is configured for %s", a.NetworkID)
	}
	ctx, cancel := context.WithTimeout(ctx, watchWithin-5*time.Second)
	defer cancel()
	reference, err = c.Plug.Watch(ctx, s.networks[a.NetworkID], a.Address)
	return custody, reference, err
}

// Watch runs a WatchJob: it asks the custodian to watch the address, unless it is already watched.
func (s *Service) Watch(ctx context.Context, j job.Job) (next time.Time, err error) {
	a, err := s.subject(ctx, j.Company, j.Subject)
	if errors.Is(err, db.ErrNone) || err == nil && s.isWatched(a) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Time{}, s.watch(ctx, a, nil)
}

// unavailable turns a custodian's failure into the fault that the company sees.
func unavailable(err error) error {
	return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
}

// Addresses returns the company's watched addresses on a network, the oldest first.
func (s *Service) Addresses(ctx context.Context, company, networkID string) ([]Address, error) {
	n, known := s.networks[networkID]
	if !known {
		return nil, errNoNetwork
	}
	list, err := s.addresses(ctx, company, networkID)
	for i := range list {
		list[i].Chain, list[i].Name = n.Chain, n.Name
	}
	return list, err
}
