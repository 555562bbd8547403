package report

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	trees "github.com/kobo-waas/kobo/internal/evidence"
)

// VerifyTree checks the Merkle tree of a company, as it is at one instant, and returns the findings. It
// reads only rows that are not in the tally of a Verification.
func (s *Service) VerifyTree(ctx context.Context, t *trees.Service, company string, rows *trees.Tally) (lines []string, err error) {
	err = s.db.Snapshot(db.WithLongTimeout(ctx), func(q db.Querier) error {
		removed, err := Archived(ctx, q, company)
		if err == nil {
			lines, err = t.Verify(ctx, q, company, removed, rows)
		}
		return err
	})
	return lines, err
}

// VerifyTreesOfNoCompany checks the tree of the audit lines of no company, the tree of the deployment,
// and the second place of checkpoints. The tally is that of VerifyLog. It returns the files of the second
// place that a restore explains apart from the differences.
func (s *Service) VerifyTreesOfNoCompany(ctx context.Context, t *trees.Service, rows *trees.Tally) (wrongs, explained []string, err error) {
	log, err := s.VerifyTree(ctx, t, "", rows)
	if err != nil {
		return nil, nil, err
	}
	own, err := s.VerifyTree(ctx, t, trees.Deployment, nil)
	if err != nil {
		return nil, nil, err
	}
	place, explained, err := t.VerifyPlace(ctx, s.db)
	return slices.Concat(log, own, place), explained, err
}
