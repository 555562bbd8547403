package app

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/keyring"
)

// program returns what the operators' API shows of this program and its providers.
func (a *App) program() admin.Program {
	return admin.Program{Name: a.Keyring.Name(), Running: a.running, Roles: a.plugs.roles(), Calls: a.calls, Wallets: a.wallets.Last}
}

// running returns the names of all programs that run on the database.
func (a *App) running(ctx context.Context) ([]string, error) {
	all, err := a.Keyring.Programs(ctx, keyring.Master)
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return names, err
}

// roles returns what each provider does, by the provider's name.
func (p plugs) roles() map[string][]string {
	out := map[string][]string{}
	add := func(name, role string) {
		if !slices.Contains(out[name], role) {
			out[name] = append(out[name], role)
		}
	}
	for name := range p.banks {
		add(name, "bank")
	}
	for name := range p.billers {
		add(name, "biller")
	}
	for name := range p.issuers {
		add(name, "issuer")
	}
	for _, c := range p.custody.plugs {
		add(c.Name, "custodian")
	}
	return out
}
