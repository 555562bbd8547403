package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/secret"
)

// keyFlag names the file with an operator's key. The key itself must not be an argument, because
// other users can see the arguments in the list of processes.
const keyFlag = "admin-key-file"

// keyed adds the flag of the operator's key to a command and its subcommands.
func keyed(c *cobra.Command) {
	c.PersistentFlags().String(keyFlag, "", "act as the operator whose admin key is in `FILE`; the default is the key in the variable KOBO_ADMIN_KEY")
}

// adminKey returns the operator's key for what takes two operators. The user of this machine is no
// operator there: that user could have a key too, and would be two operators.
func adminKey(c *cobra.Command) (secret.Text, error) {
	text := os.Getenv("KOBO_ADMIN_KEY")
	if path := flagOf(c, keyFlag); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return secret.Text{}, err
		}
		text = string(b)
	}
	if text = strings.TrimSpace(text); text == "" {
		return secret.Text{}, usagef("this takes two operators, and needs your admin key: --%s FILE, or the variable KOBO_ADMIN_KEY", keyFlag)
	}
	return secret.NewText(text), nil
}

// at returns a path of the operators' API. The parts may contain any characters.
func at(parts ...string) string {
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// ask sends a request to the operators' API inside this program, with the operator's key. It decodes
// the data of the response into out, unless out is nil.
func ask(c *cobra.Command, a *app.App, method, path string, body, out any) error {
	key, err := adminKey(c)
	if err != nil {
		return err
	}
	data, err := a.Operate(c.Context(), key, method, path, body)
	if out == nil || data == nil {
		return err
	}
	return errors.Join(err, json.Unmarshal(data, out))
}

// act runs a command that can lead to money leaving. If such acts need a second operator, act sends the
// request to the operators' API with the operator's key. Otherwise it runs the function direct.
func act(c *cobra.Command, a *app.App, path string, body any, direct func() error) error {
	if !a.FourEyes() {
		return direct()
	}
	return send(c, a, path, body)
}

// send posts a request to the operators' API and prints the data of the response. Of a proposal it
// prints what the second operator must do.
func send(c *cobra.Command, a *app.App, path string, body any) error {
	var data json.RawMessage
	if err := ask(c, a, http.MethodPost, path, body, &data); err != nil {
		if len(data) > 0 { // an approval stopped, and nobody sees the answers of its done acts again
			return errors.Join(err, printJSON(c, data))
		}
		return err
	}
	var p struct{ ProposalID, State string }
	if json.Unmarshal(data, &p) == nil && p.State == "PROPOSED" {
		return done(c, nil, "proposed; another operator runs: kobo proposal approve %s", p.ProposalID)
	}
	return printJSON(c, data)
}

// printJSON prints data with indents, or "done" if there is no data.
func printJSON(c *cobra.Command, data json.RawMessage) error {
	if len(data) == 0 {
		return done(c, nil, "done")
	}
	text, err := json.MarshalIndent(data, "", "  ")
	return done(c, err, "%s", text)
}
