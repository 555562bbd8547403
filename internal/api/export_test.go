package api

import (
	"fmt"
	"net/http/httptest"
	"strings"
)

// KeepsTheRules is nil when the operation at a path takes such a body.
func KeepsTheRules(method, path, text string) error {
	c, err := readContract(source)
	if err != nil {
		return err
	}
	op := c.operations[method+" "+strings.TrimSuffix(path, "/")]
	r := httptest.NewRequest(method, "/", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	if _, err := readBody(httptest.NewRecorder(), r, op.rules); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}
