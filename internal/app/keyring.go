package app

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/secret"
)

// newKeyring returns the service that rotates the master keys and the evidence keys.
func (a *App) newKeyring(keys, evidence *secret.Keyring) (*keyring.Service, error) {
	master, err := a.cfg.MasterFile()
	rings := []*keyring.Ring{{Name: keyring.Master, Keys: keys, File: master, Recognise: a.Operators.Recognise}}
	if path := a.cfg.EvidenceKeyFile; path != "" { // without a file, the master key signs the evidence in sandbox mode
		rings = append(rings, &keyring.Ring{Name: keyring.Evidence, Keys: evidence, File: secret.File{Path: filepath.Clean(path)}})
	}
	return keyring.New(keyring.Config{
		DB: a.DB, Clock: a.Clock, Machine: a.cfg.machine(), Log: a.log,
		Book: a.Book, Companies: a.Companies, Operators: a.Operators,
		Rings: rings,
	}), err
}

// withRenewal adds a control to the sandbox's controls. The control tells a company that its API keys
// and its PIN will be revoked, as if the current master key were an older one. Nothing is revoked.
func (a *App) withRenewal(controls http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", controls)
	mux.HandleFunc("POST /sandbox/renewal", func(w http.ResponseWriter, r *http.Request) {
		var b struct{ CompanyID string }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&b); err != nil {
			refuseControl(w, http.StatusBadRequest, "The body must be JSON with a companyId")
			return
		}
		if err := a.Keyring.Tell(r.Context(), b.CompanyID, a.Keyring.Current(), a.Clock.Now().Add(7*24*time.Hour)); err != nil {
			a.log.Warn("a company was not told", "error", err)
			refuseControl(w, http.StatusBadRequest, "The company was not told")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}\n")) // an error means that the client has disconnected
	})
	return mux
}
