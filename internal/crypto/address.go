package crypto

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/quota"
)

// WatchJob has the custodian watch the address that the subject names, when
// whoever asked for it could not.
const WatchJob = "crypto.watch"

const (
	// watchWithin is how long a request may take to have its address watched.
	watchWithin = 30 * time.Second
	// contenders is how many lost races for an index are given up after.
	contenders = 100
)

// The states of an address.
const (
	reserved = "RESERVED"
	watched  = "WATCHED"
)

// Generation is a request for an address.
type Generation struct {
	Company   string
	NetworkID string
	Label     string
	Key       *idempotency.Key // from the header; nil for none
}

// Generate gives the company one more address on a network. The address is shown
// only once somebody watches it: what is paid to it before that would not be
// seen. A fault of kind Unavailable means that nobody watches it yet; it is being
// seen to, and will be on the list.
func (s *Service) Generate(ctx context.Context, g Generation) (Address, error) {
	n, known := s.networks[g.NetworkID]
	if !known {
		return Address{}, errNoNetwork
	}
	custody, looked := s.custodies[s.custodyOf[n.ID]]
	if !looked || n.Inactive {
		return Address{}, fault.New(fault.Refused, "Network is not active")
	}
	a, err := s.reserve(ctx, n, custody, g)
	if err != nil {
		return Address{}, err
	}
	return a, s.watch(ctx, a, g.Key)
}

// Resume answers a request whose first try, under the same Idempotency-Key, was
// cut off after it had taken an index.
func (s *Service) Resume(ctx context.Context, company, subject string, key *idempotency.Key) (Address, error) {
	a, err := s.subject(ctx, company, subject)
	if err != nil {
		return Address{}, err
	}
	return a, s.watch(ctx, a, key)
}

// reserve takes the next index and stores its address, in one commit. Of two who
// want the same index the book gives it to one, and the other takes the next.
func (s *Service) reserve(ctx context.Context, n chain.Network, custody Custody, g Generation) (Address, error) {
	turn := s.turn(g.Company) // in this program they do not even try
	turn.Lock()
	defer turn.Unlock()
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
			Label: g.Label, CreatedAt: now, custody: custody.Name,
		}
		if a.Address, err = custody.Plug.Address(ctx, n, k.Public, index); err != nil {
			return Address{}, unavailable(err)
		}
		if err := s.enter(ctx, n, a); err != nil {
			return Address{}, err
		}
		one, err := quota.Next(ctx, s.DB, g.Company, quota.CryptoAddress, now)
		if err != nil {
			return Address{}, err
		}
		err = s.Book.Commit(ctx, ledger.Unit{
			Company: g.Company,
			Tallies: []ledger.Tally{one},
			Claims:  append([]db.Record{a.record()}, g.Key.Running(a.subject(), now.Add(watchWithin))...),
			Notes:   []db.Record{job.NewFor(a.custody, g.Company, WatchJob, a.subject(), now.Add(watchWithin))},
		})
		if ledger.Is(err, ledger.Exists, addressTable) {
			continue
		}
		return a, quota.Reached(idempotency.Taken(err), now)
	}
	return Address{}, fault.New(fault.Unavailable, "Service temporarily unavailable")
}

// enter writes the address into the directory, before it is anybody's.
func (s *Service) enter(ctx context.Context, n chain.Network, a Address) error {
	owner, err := s.enterAddress(ctx, n.ID, n.Fold(a.Address), a.Company)
	if err == nil && owner != a.Company {
		err = fmt.Errorf("crypto: address %d of key %s of company %s belongs to company %s", a.Index, a.KeyID, a.Company, owner)
	}
	return err
}

// subject names an address in jobs and keys.
func (a Address) subject() string { return a.KeyID + "/" + strconv.FormatInt(a.Index, 10) }

// subject is the address that was named so.
func (s *Service) subject(ctx context.Context, company, subject string) (Address, error) {
	cut := strings.LastIndexByte(subject, '/')
	index, err := strconv.ParseInt(subject[cut+1:], 10, 64)
	if cut < 0 || err != nil {
		return Address{}, fmt.Errorf("crypto: no address is named %q", subject)
	}
	return s.findAddress(ctx, company, subject[:cut], index)
}

// watch has the custodian watch the address and writes that it does, together
// with the answer to whoever asked.
func (s *Service) watch(ctx context.Context, a Address, key *idempotency.Key) error {
	u := ledger.Unit{Company: a.Company, Moves: key.Done(a, nil)}
	if !a.watched {
		move, err := s.subscribe(ctx, a)
		if err != nil {
			s.Log.Warn("an address is not watched yet", "company", a.Company, "address", a.subject(), "error", err)
			return unavailable(err)
		}
		u.Moves = append(u.Moves, move)
	}
	for {
		if len(u.Moves) == 0 {
			return nil
		}
		err := s.Book.Commit(ctx, u)
		r := ledger.Refused(err)
		if r == nil || r.Reason != ledger.Moved {
			return err
		}
		if r.Table != addressTable {
			return idempotency.ErrInFlight
		}
		u.Moves = key.Done(a, nil) // the job was faster
	}
}

// subscribe has the custodian watch the address.
func (s *Service) subscribe(ctx context.Context, a Address) (ledger.Move, error) {
	custody, looked := s.custodies[a.custody]
	if !looked {
		return ledger.Move{}, fmt.Errorf("crypto: %s is not configured", a.custody)
	}
	ctx, cancel := context.WithTimeout(ctx, watchWithin-5*time.Second)
	defer cancel()
	reference, err := custody.Plug.Watch(ctx, s.networks[a.NetworkID], a.Address)
	return a.watchedBy(reference, s.Clock.Now()), err
}

// Watch is the work of a WatchJob.
func (s *Service) Watch(ctx context.Context, j job.Job) (next time.Time, err error) {
	a, err := s.subject(ctx, j.Company, j.Subject)
	if errors.Is(err, db.ErrNone) || err == nil && a.watched {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Time{}, s.watch(ctx, a, nil)
}

// unavailable is a custodian's failure as the company sees it.
func unavailable(err error) error {
	return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
}

// Addresses are the company's addresses on a network, in the order in which they
// were made.
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
