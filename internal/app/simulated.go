package app

import (
	"context"

	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sudo"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/tatum"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/vtpass"
)

// Simulated is the sandbox server with the simulated providers that it runs.
type Simulated struct {
	*sandbox.Sandbox
	SafeHaven safehaven.Bank
	VTpass    vtpass.Biller
	Sudo      sudo.Issuer
	Tatum     tatum.Custodian
}

// OpenSimulated opens the sandbox with all its providers.
func OpenSimulated(ctx context.Context, cfg sandbox.Config) (s *Simulated, err error) {
	s = &Simulated{}
	s.Sandbox, err = sandbox.Open(ctx, cfg, &s.VTpass, &s.Sudo, &s.Tatum, &s.SafeHaven)
	return s, err
}
