package api

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
)

// KeepsTheRules returns nil if the operation at a path accepts the body. Otherwise it returns the
// reason.
func KeepsTheRules(method, path, text string) error {
	spec, err := readContract()
	if err != nil {
		return err
	}
	r := httptest.NewRequest(method, "/", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	b, err := contract.Decode(httptest.NewRecorder(), r, contract.MaxBody, isControl)
	if err == nil {
		err = spec.Operations[method+" "+strings.TrimSuffix(path, "/")].Check(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}
