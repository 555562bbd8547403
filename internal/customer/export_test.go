package customer

import (
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Compare is compare, for the tests outside the package.
func (p Profile) Compare(record secret.Text) wire.Text { return p.compare(record) }
