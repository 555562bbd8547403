package app

import (
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/secret"
)

// newKeyring returns the service that rotates the master keys.
func (a *App) newKeyring(keys *secret.Keyring) *keyring.Service {
	return keyring.New(keyring.Config{
		DB: a.DB, Clock: a.Clock, Machine: a.cfg.machine(), Log: a.log,
		Rings: []*keyring.Ring{{Name: keyring.Master, Keys: keys, File: a.cfg.masterFile(), Recognise: a.Operators.Recognise}},
	})
}
