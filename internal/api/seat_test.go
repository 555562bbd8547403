package api_test

import (
	"slices"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/person"
)

// mayRead are the operations that change nothing although they are no GET. Everybody of a company may run them.
var mayRead = []string{"generateToken", "refreshAccessToken", "claimKey"}

// Every operation that changes something says which people may run it. So nobody gets a new operation by
// accident.
func TestEveryActSaysWhoMayRunIt(t *testing.T) {
	known := contract(t).Operations()
	for _, id := range api.Acts() {
		if !slices.Contains(known, id) {
			t.Errorf("%s has roles, and is no operation", id)
		}
	}
	for _, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			if listed := slices.Contains(api.Acts(), op.OperationID); method != "GET" && !listed && !slices.Contains(mayRead, op.OperationID) {
				t.Errorf("%s %s changes something: say who may run it (acts)", method, op.OperationID)
			}
		}
	}
	for _, id := range known {
		if slices.Contains(api.Acts(), id) && api.MayRun(person.Viewer, id) {
			t.Errorf("a viewer may run %s", id)
		}
		if !slices.Contains(api.Acts(), id) && !api.MayRun(person.Viewer, id) {
			t.Errorf("a viewer may not read %s", id)
		}
	}
}
