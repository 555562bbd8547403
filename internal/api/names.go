package api

import (
	"cmp"

	"github.com/kobo-waas/kobo/internal/text"
)

// visible ends the pattern of a text that must have a letter or a digit.
const visible = `[\p{L}\p{N}]`

// trimName takes invisible characters from the ends of a name. It leaves a space of
// a name without visible characters, since no pattern of a name takes a space.
func trimName(name string) string { return cmp.Or(text.Trim(name), " ") }
