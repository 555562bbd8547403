package app

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/kobo-waas/kobo/internal/kms"
	"github.com/kobo-waas/kobo/internal/secret"
)

// MasterFile returns the file of the master key, with the key of the KMS if a setting names one. If a
// setting contains the master key, MasterFile returns a file without a path.
func (c Config) MasterFile() (f secret.File, err error) {
	if err := c.checkKMS(); err != nil || c.MasterKey.Reveal() != "" {
		return f, err
	}
	f.Path = filepath.Clean(c.MasterKeyFile)
	if c.MasterKeyKMS != "" {
		f.KMS, err = kms.Key(c.MasterKeyKMS, kms.Vault{Token: c.kmsToken, CAFile: c.MasterKeyKMSCAFile})
	}
	return f, prefixed("master_key_kms: ", err)
}

// checkKMS checks the settings of the KMS without a request to it.
func (c Config) checkKMS() error {
	token, file := c.MasterKeyKMSToken.Reveal() != "", c.MasterKeyKMSTokenFile != ""
	if c.MasterKeyKMS == "" {
		return errorIf(token || file || c.MasterKeyKMSCAFile != "", "the settings master_key_kms_… need master_key_kms")
	}
	return errors.Join(
		errorIf(c.MasterKey.Reveal() != "" || c.MasterKeyFile == "", "master_key_kms wraps a file: set master_key_file, not master_key"),
		errorIf(token && file, "set either master_key_kms_token or master_key_kms_token_file"),
		errorIf(!token && !file, "master_key_kms needs master_key_kms_token_file or master_key_kms_token"),
	)
}

// kmsToken returns the token of the program at the KMS.
func (c Config) kmsToken() (string, error) {
	if c.MasterKeyKMSTokenFile == "" {
		return c.MasterKeyKMSToken.Reveal(), nil
	}
	token, err := readSecret(c.MasterKeyKMSTokenFile)
	return token, prefixed("master_key_kms_token_file: ", err)
}

// warnPlainKeyring logs a warning if the file of the master key is plain although a KMS should wrap it.
func (a *App) warnPlainKeyring() {
	if a.cfg.MasterKeyKMS == "" {
		return
	}
	if content, err := os.ReadFile(filepath.Clean(a.cfg.MasterKeyFile)); err != nil || !secret.IsWrapped(string(content)) {
		a.log.Warn("master_key_kms is set, and the file of the master key is plain: run kobo key wrap", "file", a.cfg.MasterKeyFile, "error", err)
	}
}
