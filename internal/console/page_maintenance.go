package console

import (
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
)

func (c *console) maintenanceRoutes() map[string]route {
	return map[string]route{
		"GET /console/system/maintenance":  {show: showMaintenance},
		"POST /console/system/maintenance": {show: showMaintenance, do: setDoor},
	}
}

func showMaintenance(v *visit) (view, error) {
	var d admin.Door
	_, err := v.call("findDoor", admin.Input{}, &d)
	return view{title: "Maintenance", item: "system", body: maintenancePage(v, d)}, err
}

// setDoor closes or opens the companies' API. If Kobo itself has closed it, opening becomes a proposal.
func setDoor(v *visit) (string, error) {
	body := admin.DoorRequest{Closed: v.PostForm.Get("closed") == "true", Reason: strings.TrimSpace(v.PostForm.Get("reason"))}
	return v.act("setDoor", body, "/console/system/maintenance")
}
