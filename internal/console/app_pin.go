package console

import "github.com/kobo-waas/kobo/internal/fault"

func (c *console) pinRoutes() map[string]route {
	return map[string]route{
		"GET /app/settings/pin":  {show: showPIN},
		"POST /app/settings/pin": {show: showPIN, do: changePIN, proof: recentProof},
	}
}

func showPIN(v *visit) (view, error) {
	return view{title: "Transaction PIN", item: "settings", body: pinPage(v)}, nil
}

// changePIN changes the transaction PIN. No form that comes back has a PIN.
func changePIN(v *visit) (string, error) {
	now, next := v.PostForm.Get("currentPin"), v.PostForm.Get("pin")
	if next != v.PostForm.Get("again") {
		return "", fault.New(fault.Invalid, "The new PIN is not the same twice")
	}
	_, err := v.ask("POST", "/api/v1/company/pin", map[string]string{"currentPin": now, "pin": next}, nil)
	return "/app/settings", err
}
