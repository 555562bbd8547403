package console

import (
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/operator"
)

func (c *console) maintenanceRoutes() map[string]route {
	return map[string]route{
		"GET /console/system/maintenance":  {show: showMaintenance},
		"POST /console/system/maintenance": {show: showMaintenance, do: setDoor},
	}
}

func showMaintenance(v *visit) (view, error) {
	var d admin.Door
	if _, err := v.call("findDoor", admin.Input{}, &d); err != nil {
		return view{}, err
	}
	v.door = &d.Closed
	by, err := v.closedBy(d)
	return view{title: "Maintenance", item: "system", body: maintenancePage(v, d, by)}, err
}

// closedBy returns the name of the operator who has closed the API, as the audit log has it.
func (v *visit) closedBy(d admin.Door) (string, error) {
	if !d.Closed || d.ByKobo {
		return "Kobo itself", nil
	}
	lines, _, err := v.Operators.SearchAudit(v.Context(), operator.AuditFilter{Action: "door.close"}, 1, 0)
	if err != nil || len(lines) == 0 {
		return "an operator", err
	}
	return lines[0].Operator, nil
}

// setDoor closes or opens the companies' API. If Kobo itself has closed it, opening becomes a proposal.
func setDoor(v *visit) (string, error) {
	body := admin.DoorRequest{Closed: v.PostForm.Get("closed") == "true", Reason: strings.TrimSpace(v.PostForm.Get("reason"))}
	return v.act("setDoor", body, "/console/system/maintenance")
}
