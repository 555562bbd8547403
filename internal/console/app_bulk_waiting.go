package console

import (
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/api"
)

// waitingBulks returns the newest approval that waits for each of some checked bulk payouts. It looks through the newest 1,000
// that wait.
func (v *visit) waitingBulks(some []bulk) (map[string]api.Approval, error) {
	out := map[string]api.Approval{}
	if !slices.ContainsFunc(some, func(b bulk) bool { return b.State == "CHECKED" }) {
		return out, nil
	}
	for page := 1; page <= 10; page++ {
		var l listOf[api.Approval]
		if _, err := v.ask("GET", "/api/v1/company/approvals?waiting=true&pageSize=100&page="+strconv.Itoa(page), nil, &l); err != nil {
			return nil, err
		}
		for _, a := range l.Data.Data {
			if a.BulkPayout == nil {
				continue
			}
			if _, newer := out[a.BulkPayout.BulkID]; !newer {
				out[a.BulkPayout.BulkID] = a
			}
		}
		if !l.Data.Meta.HasNextPage {
			break
		}
	}
	return out, nil
}

// isNext reports whether the person can do the next thing about a checked bulk payout: approve it, or confirm it if no approval
// waits.
func (v *visit) isNext(a api.Approval) bool {
	if a.ID == "" {
		return v.can("confirmBulkPayout")
	}
	return v.decides(a) && !v.isOwnRequest(a)
}
