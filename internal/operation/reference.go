package operation

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
)

// letters are small letters and digits, which every provider accepts in a reference.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// referenceLength is 100 bits of the hash.
const referenceLength = 20

// Reference returns the id of an operation with a key. The same company, kind and key give the
// same reference in every database. So a request that is repeated after a restore has the
// reference that the provider knows. No secret is part of the hash, so a rotation does not
// change the reference.
func Reference(company, kind, key string) string {
	h := sha256.New()
	for _, part := range []string{"kobo operation reference", company, kind, key} {
		fmt.Fprintf(h, "%d:%s,", len(part), part) // the lengths keep the parts apart
	}
	return letters.EncodeToString(h.Sum(nil))[:referenceLength]
}
