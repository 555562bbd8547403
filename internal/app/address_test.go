package app

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/secret"
)

// The address of callbacks is that of the handler. Only providers with a secret address have one.
func TestCallbackAddress(t *testing.T) {
	cfg := Defaults()
	cfg.MasterKey, cfg.CallbackBase = secret.NewText(secret.Generate()), "https://pay.example.com"
	for _, name := range []string{"safehaven", "vtpass"} {
		if address, err := cfg.CallbackAddress(name); err != nil || !strings.HasPrefix(address, "https://pay.example.com/callbacks/"+name+"/") {
			t.Errorf("%s: %s %v", name, address, err)
		}
	}
	if address, err := cfg.CallbackAddress("tatum"); err == nil {
		t.Errorf("tatum: %s", address)
	}
}
