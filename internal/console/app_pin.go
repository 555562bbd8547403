package console

import "github.com/kobo-waas/kobo/internal/fault"

func (c *console) pinRoutes() map[string]route {
	return map[string]route{
		"GET /app/settings/pin":        {show: showPIN},
		"POST /app/settings/pin":       {show: showPIN, do: changePIN, proof: recentProof},
		"POST /app/settings/pin/token": {show: showPIN, do: setPINByToken, proof: recentProof},
	}
}

func showPIN(v *visit) (view, error) {
	state, err := v.PINState(v.Context(), v.who.Company)
	return view{title: "Transaction PIN", item: "settings", body: pinPage(v, state)}, err
}

// changePIN changes the transaction PIN. No form that comes back has a PIN.
func changePIN(v *visit) (string, error) {
	return v.setPIN("currentPin", v.PostForm.Get("currentPin"))
}

// setPINByToken sets the transaction PIN with a token of Kobo's operators: the first PIN, or a new one for a PIN that nobody knows.
func setPINByToken(v *visit) (string, error) {
	return v.setPIN("pinToken", v.PostForm.Get("pinToken"))
}

// setPIN sets the PIN of the form. The company proves by the named field that it may.
func (v *visit) setPIN(name, proof string) (string, error) {
	next := v.PostForm.Get("pin")
	if next != v.PostForm.Get("again") {
		return "", fault.New(fault.Invalid, "The new PIN is not the same twice")
	}
	_, err := v.ask("POST", "/api/v1/company/pin", map[string]string{name: proof, "pin": next}, nil)
	return "/app/settings", err
}
