package operation

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
)

// letters encodes bytes in small letters and digits, which every provider accepts in a reference.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// referenceLength is the number of characters in a reference, which encode 100 bits of the hash.
const referenceLength = 20

// Reference returns the ID of an operation that has an idempotency key. The provider gets this ID
// as our reference. The same company, kind and idempotency key give the same ID in every database.
// So if a request is repeated after a restore, the provider recognises the reference. No secret is
// part of the hash, so a rotation of the master key does not change the ID.
func Reference(company, kind, key string) string {
	h := sha256.New()
	for _, part := range []string{"kobo operation reference", company, kind, key} {
		fmt.Fprintf(h, "%d:%s,", len(part), part) // the lengths make the boundaries between the parts unambiguous
	}
	return letters.EncodeToString(h.Sum(nil))[:referenceLength]
}
