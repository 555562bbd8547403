package console

import (
	"maps"
	"slices"
)

// Patterns returns the patterns of all routes.
func Patterns() []string { return slices.Sorted(maps.Keys((&console{}).all())) }
