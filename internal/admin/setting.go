package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/keyring"
)

// InForce is what a program runs with. It contains no secret.
type InForce struct {
	Version     string
	Schema      int64
	Environment string
	Settings    []Setting // in the order of their names
	// Keys returns the keys with which the database was written and the programs that run, of each keyring.
	Keys func(ctx context.Context) ([]KeysOf, error)
}

// KeysOf are the keys of one keyring.
type KeysOf struct {
	Ring     string
	Lines    []keyring.Line
	Programs []keyring.Program
}

func (e *edge) findSettings(ctx context.Context, _ *request) (any, error) {
	f := e.InForce
	running, err := e.Program.Running(ctx)
	if err != nil {
		return nil, err
	}
	rings, err := f.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return Settings{
		Version: f.Version, Schema: f.Schema, Environment: f.Environment, Program: e.Program.Name, Programs: running,
		Keyrings: rows(rings, keyringOf), Settings: append([]Setting{}, f.Settings...),
	}, nil
}

func keyringOf(k KeysOf) Keyring {
	return Keyring{k.Ring, rows(k.Lines, func(l keyring.Line) KeyringKey {
		out := KeyringKey{
			ID: l.ID, FirstAt: clock.Text(l.FirstAt), LastAt: clock.Optional(l.LastAt),
			RevokedAt: clock.Optional(l.RevokedAt), RemovedAt: clock.Optional(l.RemovedAt),
		}
		for _, p := range k.Programs {
			if p.Writes == l.ID {
				out.Writes++
			}
			if p.Holds(l.ID) {
				out.Holds++
			}
		}
		return out
	})}
}
