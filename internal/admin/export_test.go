package admin

import (
	"maps"
	"slices"
)

// Routes are the methods and paths of the door.
func Routes() []string { return slices.Sorted(maps.Keys((&door{}).routes())) }
