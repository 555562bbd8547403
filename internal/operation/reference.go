package operation

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
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

// sessionLength is the number of digits in a session ID.
const sessionLength = 30

// SessionOf returns the provider's reference of a payout if it is a session ID, by which each bank finds the money.
// Otherwise it returns "". A bank that has only accepted a payout may have named nothing but an id of its own.
func SessionOf(reference string) string {
	if len(reference) != sessionLength || strings.Trim(reference, "0123456789") != "" {
		return ""
	}
	return reference
}

// later returns the provider's reference of an operation after a reply with the reference heard, which may be "". A
// session ID replaces a bank's own id, and such an id replaces no session ID.
func later(had, heard string) string {
	if heard == "" || SessionOf(had) != "" && SessionOf(heard) == "" {
		return had
	}
	return heard
}
