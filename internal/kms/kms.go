// Package kms wraps the master keyring with a key of a key management service (KMS).
//
// A client of a KMS implements registry.KMSClient of tink. The key that it returns is a tink.AEAD.
package kms

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Key returns the key with this URI. It returns an error if no client supports the URI.
func Key(uri string, clients ...registry.KMSClient) (tink.AEAD, error) {
	for _, c := range clients {
		if c.Supported(uri) {
			return c.GetAEAD(uri)
		}
	}
	return nil, fmt.Errorf("%q is not supported: Kobo supports the transit engine of HashiCorp Vault and OpenBao, as %s", uri, form)
}
