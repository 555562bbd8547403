package console

import (
	"slices"

	"github.com/kobo-waas/kobo/internal/api"
)

// waitingBulks returns the newest approval that waits for each of some checked bulk payouts. It looks through all that wait: an index
// has those of the last day, and one person may have few at once.
func (v *visit) waitingBulks(some []bulk) (map[string]api.Approval, error) {
	out := map[string]api.Approval{}
	if !slices.ContainsFunc(some, func(b bulk) bool { return b.State == "CHECKED" }) {
		return out, nil
	}
	err := eachRow(v, "/api/v1/company/approvals?waiting=true&", func(a api.Approval) (enough bool) {
		if a.BulkPayout != nil && out[a.BulkPayout.BulkID].ID == "" {
			out[a.BulkPayout.BulkID] = a
		}
		return false
	})
	return out, err
}

// isNext reports whether the person can do the next thing about a checked bulk payout: approve it, or confirm it if no approval
// waits.
func (v *visit) isNext(a api.Approval) bool {
	if a.ID == "" {
		return v.can("confirmBulkPayout")
	}
	return v.decides(a) && !v.isOwnRequest(a)
}
