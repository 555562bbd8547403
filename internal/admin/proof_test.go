package admin_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
)

// An act that approves or makes a secret needs a proof of its own. Without four eyes, each act that would wait for a second
// operator approves itself. An operation that only reads or asks never needs one.
func TestWhichActsNeedANewProof(t *testing.T) {
	for _, fourEyes := range []bool{true, false} {
		api, err := admin.New(admin.Config{FourEyes: fourEyes})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{
			"approveProposal": true, "approveCase": true, "resolveCase": true, "approveAdjustment": true, "createCompany": true, "setPIN": true, "renewToken": true,
			"attachBankAccount": !fourEyes, "setXpub": !fourEyes, "issueKey": !fourEyes,
			"createProposal": false, "rejectProposal": false, "reveal": false, "listCases": false, "revokeKey": false, "nothing": false,
		} {
			if got := api.NeedsNewProof(id); got != want {
				t.Errorf("four eyes %t: %s needs a new proof: %t", fourEyes, id, got)
			}
		}
	}
}
