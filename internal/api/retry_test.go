package api

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

func TestRetryAfter(t *testing.T) {
	limited := fault.New(fault.Limited, "too soon")
	for _, c := range []struct {
		name   string
		family family
		why    error
		want   string
	}{
		{"known to the second", corporateFamily, limited.After(60 * time.Second), "60"},
		{"rounded up", customerFamily, limited.After(59*time.Second + time.Millisecond), "60"},
		{"a moment", account, limited.After(time.Millisecond), "1"},
		{"over already", account, limited.After(-time.Hour), "1"},
		{"unknown", account, limited, "5"},
		{"away", vtuFamily, fault.New(fault.Unavailable, "away"), "5"},
		{"of unknown fate", settlementFamily, fault.New(fault.Unknown, "lost"), "5"},
		{"our own mistake", account, fault.New(fault.Internal, "oops"), ""},
		{"refused", cardFamily, fault.New(fault.Refused, "no"), ""},
	} {
		ctx := context.WithValue(t.Context(), callKey{}, &call{family: c.family})
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/", nil)
		refuse(w, r, c.why)
		if got := w.Header().Get("Retry-After"); got != c.want {
			t.Errorf("%s: Retry-After is %q with %d, want %q", c.name, got, w.Code, c.want)
		}
	}
}
