package operator

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// ErrStrange is the error for a keyring that contains no key known to this database.
var ErrStrange = fault.New(fault.Refused, "this database was written with other master keys: their lines belong into the keyring, below the current one")

// Recognise compares the master keyring with the master keys that this database has seen, and
// records the new keys. A keyring without any known key gives ErrStrange, because no API key would
// work and no sealed value could be opened. A keyring with a different key under a known id gives a
// fault of kind Refused.
func (s *Service) Recognise(ctx context.Context) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		known, err := proofs(ctx, q)
		if err != nil {
			return err
		}
		ours, met := s.keys.Proofs(), len(known) == 0
		for keyID, proof := range ours {
			switch known[keyID] {
			case proof:
				met = true
			case "":
			default:
				return fault.Newf(fault.Refused, "the key %s of the master keyring is not the one of that id with which this database was written", keyID)
			}
		}
		if !met {
			return ErrStrange
		}
		for keyID, proof := range ours {
			if err := insertProof(ctx, q, keyID, proof, s.clock.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}
