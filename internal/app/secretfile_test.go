package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
)

// Each secret can come from a file, whether the file or the environment names the setting.
func TestSecretsComeFromFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // the umask does not count
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("KOBO_SUDO_API_KEY_FILE", write("sudo", "key of sudo\n", 0o600))
	t.Setenv("KOBO_BANKS_MAIN_ASSERTION_FILE", write("main", "signed by main\r\n", 0o400))
	cfg, err := app.Load(file(t, "crypto: {nodes_file: "+write("nodes", "base-mainnet=https://x", 0o600)+"}\n"+
		"vtpass: {secret_key_file: "+write("vtpass", " spaces stay ", 0o600)+"}\nbanks: {main: {plug: safehaven}}\nmaster_key_file: untouched\n"))
	if err != nil {
		t.Fatal(err)
	}
	sudo, vtpass, main := cfg.Providers["sudo"].(app.SudoConfig), cfg.Providers["vtpass"].(app.VTpassConfig), cfg.Banks["main"].(app.SafeHavenConfig)
	for _, one := range [][2]string{
		{sudo.APIKey.Reveal(), "key of sudo"},
		{main.Assertion.Reveal(), "signed by main"},
		{cfg.Crypto.Nodes.Reveal(), "base-mainnet=https://x"},
		{vtpass.SecretKey.Reveal(), " spaces stay "},
		{cfg.MasterKeyFile, "untouched"},
	} {
		if one[0] != one[1] {
			t.Errorf("read %q, want %q", one[0], one[1])
		}
	}
	for text, want := range map[string]string{
		"tatum: {api_key: a, api_key_file: " + write("a", "b", 0o600) + "}":     "set either tatum.api_key or tatum.api_key_file",
		"tatum: {api_key_file: /no-such-file}":                                  "tatum.api_key_file: stat /no-such-file",
		"tatum: {api_key_file: " + write("empty", "\n", 0o600) + "}":            "is empty",
		"tatum: {api_key_file: " + write("open", "c", 0o666) + "}":              "others than its owner can write it",
		"tatum: {base_url_file: x}":                                             `there is no setting "tatum.base_url_file"`,
		"banks: {main: {plug: safehaven, client_id_file: x}}":                   `there is no setting "banks.main.client_id_file"`,
		"banks: {other: {plug: safehaven, assertion_file: /no-such-file}}":      "banks.other.assertion_file: stat",
		"safehaven: {assertion_file: " + write("s", "hidden text", 0o666) + "}": "safehaven.assertion_file",
	} {
		if _, err := app.Load(file(t, text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden text") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Live mode refuses a database on another machine whose URL leaves TLS to the server.
func TestARemoteDatabaseNeedsADecisionAboutTLS(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for url, refused := range map[string]bool{
		"postgres://kobo@db/kobo":                     true,
		"postgres://kobo@db/kobo?sslmode=prefer":      true,
		"postgres://kobo@db/kobo?sslmode=verify-full": false,
		"postgres://kobo@db/kobo?sslmode=disable":     false,
		"postgres://kobo@127.0.0.1/kobo":              false,
	} {
		cfg := live(t)
		cfg.Database = url
		if err := cfg.Check(nil); (err != nil) != refused || refused && !strings.Contains(err.Error(), "add sslmode=verify-full") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
