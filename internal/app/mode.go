package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/secret"
)

// seeModes warns of files that others than their owner can read. It changes
// none: sharing a file with a group may be meant.
func (a *App) seeModes() {
	if path := a.cfg.MasterKeyFile; path != "" && a.cfg.MasterKey.Reveal() == "" {
		if readable, err := secret.CheckMode(path); err != nil || readable {
			a.log.Warn("others than its owner can read the master key: chmod 600", "file", path, "error", err)
		}
	}
	for _, path := range a.cfg.ownFiles() {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 { // one that is not there is made for its owner
			a.log.Warn("others than its owner can use a file of Kobo's", "file", path, "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
		}
	}
}

// ownFiles are the files and the folder that a program keeps, there or not.
func (c Config) ownFiles() []string {
	var out []string
	if path, lite := db.SQLitePath(c.Database); lite {
		out = append(out, path, path+"-wal")
	}
	if c.Mode == Sandbox {
		out = append(out, c.Data, filepath.Join(c.Data, "sandbox.db"))
	}
	if path := c.epochFile(); path != "" {
		out = append(out, path)
	}
	return out
}
