package operator

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// ErrStrange is for a keyring that has none of the keys a database was written
// with.
var ErrStrange = fault.New(fault.Refused, "this database was written with other master keys: their lines belong into the keyring, below the current one")

// Recognise compares the master keyring with those that this database was written
// with, and remembers what is new in it. A ring that has none of them is
// ErrStrange: every API key would be wrong and nothing sealed could be read. One
// that has another key under an id of theirs is Refused.
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
