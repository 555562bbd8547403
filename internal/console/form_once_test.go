package console

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/kobo-waas/kobo/internal/id"
)

// A click without a proof is on its way when the same form comes with one.
func TestAFormWithAProofDoesNotWaitForOneWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, form, first := newForms(), id.New(), make(chan struct{})
		lacking, proved := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := f.once("session", form, http.Header{}, func() (string, error) { <-first; return "", errProof })
			lacking <- err
		}()
		synctest.Wait()
		var to string
		go func() {
			var err error
			to, err = f.once("session", form, http.Header{}, func() (string, error) { return "/done", nil })
			proved <- err
		}()
		synctest.Wait()
		close(first)
		if err := <-lacking; !errors.Is(err, errProof) {
			t.Errorf("without a proof: %v", err)
		}
		if err := <-proved; err != nil || to != "/done" {
			t.Errorf("with a proof: %v, to %q", err, to)
		}
		if to, err := f.once("session", form, http.Header{}, func() (string, error) { return "/again", nil }); to != "/done" || err != nil {
			t.Errorf("a second click: %q, %v", to, err)
		}
	})
}
