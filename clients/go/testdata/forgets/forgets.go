// Package forgets has a switch that forgets kobo.Unknown. The linter must find it.
package forgets

import kobo "github.com/kobo-waas/kobo/clients/go"

// Paid takes an unknown outcome for a failure.
func Paid(out kobo.Outcome) bool {
	switch out.(type) {
	case kobo.Succeeded:
		return true
	case kobo.Declined:
		return false
	}
	return false
}
