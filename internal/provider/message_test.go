package provider_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// No provider documents how it words the refusal of a reference that was used before. Such a refusal
// must not count as a definite no. A refusal of a reference for another reason is one.
func TestTheWordsOfARepeatedReference(t *testing.T) {
	for message, want := range map[string]bool{
		"Duplicate record": true, "externalReference already exists": true, "This payment reference has already been used": true,
		"paymentReference must be unique": true, "Reference has been used": true,
		"property externalReference should not exist": false, "nameEnquiryReference is required": false, "nameEnquiryReference has expired": false,
		"Account already exists": false, "Insufficient balance": false, "": false,
	} {
		if got := provider.Repeated(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}
