package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/secret"
)

// warnFileModes logs a warning for each of the program's files that other users can read. It does
// not change the files' modes, since a file may be shared with a group on purpose.
func (a *App) warnFileModes() {
	keys := map[string]string{"evidence": a.cfg.EvidenceKeyFile}
	if a.cfg.MasterKey.Reveal() == "" {
		keys["master"] = a.cfg.MasterKeyFile
	}
	for name, path := range keys {
		if path == "" {
			continue
		}
		if readable, err := secret.CheckMode(path); err != nil || readable {
			a.log.Warn("other users can read the "+name+" key: chmod 600", "file", path, "error", err)
		}
	}
	secrets := append(a.cfg.TLS.keyFiles(), a.cfg.SecretFiles...)
	if a.cfg.MasterKeyKMSTokenFile != "" {
		secrets = append(secrets, a.cfg.MasterKeyKMSTokenFile)
	}
	for _, path := range secrets {
		if readable, err := secret.CheckMode(path); err != nil || readable {
			a.log.Warn("other users can read a secret: chmod 600", "file", path, "error", err)
		}
	}
	for _, path := range a.cfg.ownFiles() {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			a.log.Warn("other users can read or write a file of Kobo's", "file", path, "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
		}
	}
}

// warnPlainDatabase logs a warning if the passwords and the rows of the database travel to another
// machine without TLS.
func (a *App) warnPlainDatabase() {
	for name, url := range map[string]string{"database": a.cfg.Database, "replica": a.cfg.Replica} {
		if db.TransportOf(url) == db.Plain {
			a.log.Warn("the " + name + " is on another machine, and the connections to it have no TLS (sslmode=disable)")
		}
	}
}

// ownFiles returns the paths of the files and the folder to which the program writes.
func (c Config) ownFiles() []string {
	var out []string
	if path, lite := db.SQLitePath(c.Database); lite {
		out = append(out, path, path+"-wal")
	}
	if c.Mode == Sandbox {
		books, err := filepath.Glob(filepath.Join(c.Data, "sandbox*.db"))
		if err == nil {
			out = append(append(out, c.Data), books...)
		}
	}
	if path := c.epochFile(); path != "" {
		out = append(out, path)
	}
	return out
}
