package console_test

import (
	"strings"
	"testing"
)

// The audit log says what was looked for in whole words. Only an identifier is shown by its end.
func TestTheAuditLogShowsWordsWhole(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	p.submit("/console/overview", "/console/search", map[string]string{"q": "22222222222"})
	text := p.read("/console/system/audit?action=read.search")
	if !strings.Contains(text, "A meter or smartcard number, or a BVN") || strings.Contains(text, "22222222222") {
		t.Error(text)
	}
}
