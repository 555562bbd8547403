package operation

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
)

// letters are what every provider takes in a reference: small letters and digits.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// referenceLength is 100 bits of the hash.
const referenceLength = 20

// Reference is the id of an operation that a company asked for under a key. The
// same company, kind and key give the same reference in every database: a request
// that is repeated after a restore reaches the provider under the reference that
// the provider knows. No secret is part of the hash, so no rotation changes it.
func Reference(company, kind, key string) string {
	h := sha256.New()
	for _, part := range []string{"kobo operation reference", company, kind, key} {
		fmt.Fprintf(h, "%d:%s,", len(part), part) // the lengths keep the parts apart
	}
	return letters.EncodeToString(h.Sum(nil))[:referenceLength]
}
