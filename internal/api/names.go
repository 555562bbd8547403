package api

import (
	"cmp"
	"strings"

	"github.com/kobo-waas/kobo/internal/text"
)

// visible ends the pattern of a text that must have a letter or a digit.
const visible = `[\p{L}\p{N}]`

// trim takes what nobody sees from the ends of names. Of a name that shows nothing
// it leaves a space, which no pattern of a name takes.
func (r *rules) trim(b *body) {
	for path, is := range r.names {
		steps := strings.Split(path, ".")
		last := len(steps) - 1
		parent, _ := at(b.value, steps[:last]).(map[string]any)
		if name, ok := parent[steps[last]].(string); ok && is && name != "" {
			parent[steps[last]] = cmp.Or(text.Trim(name), " ")
		}
	}
}
