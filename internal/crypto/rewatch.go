package crypto

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/ledger"
)

// rewatchPage is the number of addresses that Rewatch reads, and of jobs that it adds, in one step.
const rewatchPage = 500

// Rewatch enqueues a WatchJob for each address of a network that a different custodian watched before. Without a subscription at
// the custodian that watches the network now, later deposits to the address would not be seen. Rewatch returns the number of
// these addresses. An address whose job is waiting counts again, and gets no second job.
func (s *Service) Rewatch(ctx context.Context) (found int, err error) {
	var all []error
	for _, n := range s.Networks {
		if s.custodyOf[n.ID] == "" {
			continue
		}
		some, err := s.rewatch(ctx, n.ID)
		found += some
		all = append(all, err)
	}
	return found, errors.Join(all...)
}

func (s *Service) rewatch(ctx context.Context, network string) (found int, err error) {
	companies := map[string]bool{}
	for after := ""; ; {
		owners, err := s.directory(ctx, network, after, rewatchPage)
		if err != nil {
			return found, err
		}
		for _, o := range owners {
			if companies[o.company] {
				continue
			}
			companies[o.company] = true
			some, err := s.rewatchOf(ctx, o.company, network)
			if found += some; err != nil {
				return found, err
			}
		}
		if len(owners) < rewatchPage {
			return found, nil
		}
		after = owners[len(owners)-1].address
	}
}

// rewatchOf enqueues the jobs for the addresses of one company on a network.
func (s *Service) rewatchOf(ctx context.Context, company, network string) (found int, err error) {
	custody := s.custodyOf[network]
	for last := (Address{Index: -1}); ; {
		list, err := s.watchedElsewhere(ctx, company, network, custody, last, rewatchPage)
		if err != nil || len(list) == 0 {
			return found, err
		}
		u := ledger.For(company)
		for _, a := range list {
			u.Append(a.watchJob(custody, s.Clock.Now()))
		}
		if err := s.Book.Commit(ctx, u); err != nil {
			return found, err
		}
		found += len(list)
		last = list[len(list)-1]
	}
}
