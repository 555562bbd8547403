package operator

import (
	"context"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// These details are in the line with which no row of the whole database may be unsigned any more.
const (
	allKey, allValue = "companies", "all"
	allDetails       = `"` + allKey + `":"` + allValue + `"`
)

// These are the first schemas whose programs sign the rows of evidence, and the rows of rights.
const (
	signing       = 58
	signingRights = 64
)

// EndAdoption writes the audit line that all rows of evidence in the database are signed, if they are. From
// then on Adopt signs no row of any company, and kobo verify finds each row without a MAC. A new database
// has no unsigned row. So its first program writes the line, before anybody can forge old rows.
func (s *Service) EndAdoption(ctx context.Context) error {
	done, err := s.isWhole(ctx)
	if err != nil || done {
		return err
	}
	if older, err := s.db.Beside(ctx, signing); err != nil || older {
		return err
	}
	unsigned, err := s.hasUnsigned(db.WithLongTimeout(ctx))
	if err != nil || unsigned {
		return err
	}
	details := map[string]string{allKey: allValue}
	older, err := s.db.Beside(ctx, signingRights)
	if err == nil && !older {
		unsigned, err = s.hasUnsignedKey(ctx)
	}
	if err != nil {
		return err
	}
	if !older && !unsigned {
		details["rights"] = "signed" // rightsSigned, about the operators' keys
	}
	line := program.Note("", adopted, "", details, s.clock.Now())
	return s.db.Tx(ctx, func(q db.Querier) error { return s.insertLine(ctx, q, line) })
}

// isWhole reports whether EndAdoption has written its line.
func (s *Service) isWhole(ctx context.Context) (bool, error) {
	lines, err := adoptions(ctx, s.db, "")
	for _, line := range lines {
		details, _ := line.Value("details").(string)
		if strings.Contains(details, allDetails) && s.isSignedRecord(line) {
			return true, err
		}
	}
	return false, err
}

// hasUnsigned reports whether a company, or the audit log of no company, has a row of evidence without a
// number.
func (s *Service) hasUnsigned(ctx context.Context) (bool, error) {
	const page = 100
	for after, heads := "", []ledger.Head{{}}; len(heads) > 0; {
		for _, h := range heads {
			after = h.Company
			for _, t := range db.EvidenceTables() {
				if unsigned, err := db.HasUnsigned(ctx, s.db, t, h.Company); err != nil || unsigned {
					return true, err
				}
			}
		}
		var err error
		if heads, err = ledger.Heads(ctx, s.db, after, page); err != nil {
			return true, err
		}
	}
	return false, nil
}

// hasUnsignedKey reports whether an operator's key has no right MAC.
func (s *Service) hasUnsignedKey(ctx context.Context) (bool, error) {
	keys, err := s.Keys(ctx)
	return slices.ContainsFunc(keys, func(k Key) bool { return !ledger.Signed(s.db.Signer(), keyTable.Table, k.row()) }), err
}
