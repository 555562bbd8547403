package console

import (
	"maps"
	"slices"

	"github.com/kobo-waas/kobo/internal/money"
)

// InWords returns a large amount in words.
func InWords(k money.Kobo) string { return inWords(k) }

// Patterns returns the patterns of all routes.
func Patterns() []string { return slices.Sorted(maps.Keys((&console{}).all())) }
