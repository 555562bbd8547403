package company

import (
	"context"
	"errors"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// A try of the PIN waits no longer for the tries of others than its caller has time. Then the company may repeat it. A try of another
// company does not wait.
func TestATryWaitsNoLongerThanItsTime(t *testing.T) {
	s := &Service{}
	end, err := s.turn(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	late := db.Within(t.Context(), 0)
	if _, err := s.turn(late, "first"); !fault.Is(err, fault.Unavailable) || !errors.Is(err, errBusyPIN) {
		t.Errorf("a late try: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.turn(gone, "first"); !errors.Is(err, context.Canceled) {
		t.Errorf("a try whose caller has gone: %v", err)
	}
	other, err := s.turn(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	other()
	end()
	if end, err = s.turn(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	end()
}
