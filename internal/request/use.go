package request

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// The last use of an API key is kept in memory, and written at most once a minute and when the program stops. So a request costs no
// write. A crash loses the uses of the last minute: then an older one stands there.

const (
	useEvery    = time.Minute
	useBatch    = 500 // the rows of a transaction
	usePatience = 5 * time.Second
)

// Use is a request with an API key.
type Use struct {
	At      time.Time
	Address string // of the caller
}

type keyOf struct{ company, id string }

func (k keyOf) compare(o keyOf) int {
	return cmp.Or(cmp.Compare(k.company, o.company), cmp.Compare(k.id, o.id))
}

// uses are the last uses that are not written yet.
type uses struct {
	mu    sync.Mutex
	fresh map[keyOf]Use
}

// add keeps a use, unless a later one is there.
func (u *uses) add(k keyOf, one Use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one.At.After(u.fresh[k].At) {
		u.fresh[k] = one
	}
}

// take returns the uses, and forgets them.
func (u *uses) take() map[keyOf]Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.fresh
	u.fresh = map[keyOf]Use{}
	return taken
}

// find returns a use that is not written yet.
func (u *uses) find(k keyOf) Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.fresh[k]
}

// note keeps the use of the API key of an entry. People at the pages have none.
func (s *Service) note(e Entry) {
	if e.APIKeyID != "" && !strings.Contains(e.APIKeyID, ":") {
		s.uses.add(keyOf{e.Company, e.APIKeyID}, Use{e.CreatedAt, e.Address})
	}
}

// writeUses writes the uses. Those that it cannot write stay for the next time. Two programs write the rows in the same order.
func (s *Service) writeUses(ctx context.Context) error {
	taken := s.uses.take()
	keys := slices.SortedFunc(maps.Keys(taken), keyOf.compare)
	for len(keys) > 0 {
		n := min(len(keys), useBatch)
		if other := slices.IndexFunc(keys[:n], func(k keyOf) bool { return k.company != keys[0].company }); s.DB.Routed() && other > 0 {
			n = other // a transaction is of one company there
		}
		if err := s.storeUses(s.DB.At(ctx, keys[0].company), keys[:n], taken); err != nil {
			for _, k := range keys {
				s.uses.add(k, taken[k])
			}
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// writeLastUses writes the uses of a program that stops.
func (s *Service) writeLastUses(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), usePatience)
	defer stop()
	if err := s.writeUses(ctx); err != nil {
		s.Log.Warn("the last uses of API keys were lost", "error", err)
	}
}

// Uses returns the last uses of some API keys of a company. A key that was never used is not among them. A nil Service knows none.
func (s *Service) Uses(ctx context.Context, company string, keys []string) (map[string]Use, error) {
	out := map[string]Use{}
	if s == nil || len(keys) == 0 {
		return out, nil
	}
	stored, err := s.storedUses(ctx, company, keys)
	if err != nil {
		return nil, err
	}
	for _, id := range keys {
		last := stored[id]
		if fresh := s.uses.find(keyOf{company, id}); fresh.At.After(last.At) {
			last = fresh
		}
		if !last.At.IsZero() {
			out[id] = last
		}
	}
	return out, nil
}
