package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
)

// settingsOf are the settings of the simulated providers, by provider and setting.
type settingsOf = map[string]map[string]string

// flaw is something wrong that a test plants between the command and a strict sandbox.
type flaw struct {
	settings func(settingsOf)                                  // changes the settings that the sandbox hands out
	callback string                                            // replaces the callback_base of the subscriptions
	reply    func(http.ResponseWriter, *http.Request) bool     // answers in place of a simulated provider
	kobo     func(http.ResponseWriter, *http.Request) bool     // answers in place of Kobo
	node     func(n *chainNode)                                // changes the node
	control  func(post func(path string, body map[string]any)) // steers the sandbox
}

// chainNode is a node of the network ethereum-sepolia whose blocks are empty.
type chainNode struct {
	chain, most, final int64
	age                time.Duration
}

func (n *chainNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type call struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Params []any  `json:"params"`
	}
	body, _ := io.ReadAll(r.Body)
	var calls []call
	if batch := json.Unmarshal(body, &calls) == nil; !batch {
		calls = make([]call, 1)
		_ = json.Unmarshal(body, &calls[0])
	} else if int64(len(calls)) > n.most {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32014,"message":"maximum %d calls in 1 batch"}}`, n.most)
		return
	}
	var out []map[string]any
	for _, c := range calls {
		out = append(out, map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": n.result(c.Method, c.Params)})
	}
	if bytes.HasPrefix(body, []byte("{")) {
		_ = json.NewEncoder(w).Encode(out[0])
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

// result answers one call. The chain has a block every twelve seconds.
func (n *chainNode) result(method string, params []any) any {
	const head = 1_000
	switch method {
	case "eth_chainId":
		return fmt.Sprintf("0x%x", n.chain)
	case "eth_blockNumber":
		return fmt.Sprintf("0x%x", head)
	case "eth_getLogs":
		return []any{}
	case "eth_getBlockByNumber":
		number := int64(head)
		switch text := params[0].(string); {
		case text == "finalized" && n.final == 0:
			return nil
		case text == "finalized":
			number = n.final
		case text != "latest":
			_, _ = fmt.Sscanf(text, "0x%x", &number)
		}
		return map[string]any{
			"number": fmt.Sprintf("0x%x", number), "hash": fmt.Sprintf("0x%064x", number), "parentHash": fmt.Sprintf("0x%064x", number-1),
			"timestamp": fmt.Sprintf("0x%x", time.Now().Add(-n.age).Unix()-(head-number)*12), "transactions": []any{},
			"logsBloom": "0x" + strings.Repeat("0", 512),
		}
	}
	return nil
}

// planted serves a strict sandbox with a fault in front of it, and runs kobo provider check against
// it. It returns the results, the failed checks and the error of the command.
func planted(t *testing.T, p *apptest.Program, f flaw, args ...string) (all []provider.Checked, failed []string, err error) {
	t.Helper()
	node := &chainNode{chain: 11_155_111, most: 100, final: 990}
	if f.node != nil {
		f.node(node)
	}
	nodes := httptest.NewServer(node)
	defer nodes.Close()
	found := sandboxSettings(t, p)
	inside, err := url.Parse(found.Providers["safehaven"]["base_url"])
	if err != nil {
		t.Fatal(err)
	}
	providers := front(inside, f.reply)
	defer providers.Close()
	for _, settings := range found.Providers {
		for name, value := range settings {
			settings[name] = strings.Replace(value, inside.String(), providers.URL, 1)
		}
	}
	if f.settings != nil {
		f.settings(found.Providers)
	}
	if f.callback != "" {
		found.CallbackBase = f.callback
	}
	outside, err := url.Parse(p.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	kobo := front(outside, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/sandbox/providers" {
			_ = json.NewEncoder(w).Encode(found)
			return true
		}
		return f.kobo != nil && f.kobo(w, r)
	})
	defer kobo.Close()
	folder := t.TempDir()
	credentials := fmt.Sprintf(`{"base_url":%q}`, kobo.URL)
	if err := os.WriteFile(filepath.Join(folder, "dev.json"), []byte(credentials), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KOBO_CRYPTO_NODES", "ethereum-sepolia="+nodes.URL+"/v2/aSecretKeyOfTheNode1")
	var out bytes.Buffer
	c := root()
	c.SetArgs(append([]string{"provider", "check", "--json", "--data", folder}, args...))
	c.SetOut(&out)
	err = c.ExecuteContext(t.Context())
	for lines := json.NewDecoder(&out); lines.More(); {
		var one provider.Checked
		if err := lines.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
		if one.Result == provider.Failed {
			failed = append(failed, one.Provider+" "+one.Check)
		}
		if (one.Result == provider.Failed || one.Result == provider.Warning) != (one.Action != "") || one.Detail == "" {
			t.Errorf("%+v", one)
		}
	}
	return all, failed, err
}

// front serves requests with reply, and passes those on to a server that reply does not answer.
func front(to *url.URL, reply func(http.ResponseWriter, *http.Request) bool) *httptest.Server {
	pass := httputil.NewSingleHostReverseProxy(to)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reply == nil || !reply(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
}

type handedOut struct {
	CallbackBase string     `json:"callbackBase"`
	Providers    settingsOf `json:"providers"`
}

// sandboxSettings returns the settings that the sandbox of a program hands out.
func sandboxSettings(t *testing.T, p *apptest.Program) (out handedOut) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/sandbox/providers", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || len(out.Providers) < 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	return out
}

// steer posts to a control of the sandbox, or to one of its providers.
func steer(t *testing.T, base, path string, body map[string]any, key string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(res.Body)
	if _ = res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, res.StatusCode, said)
	}
}

// set returns a fault of one wrong setting.
func set(provider, setting, value string) flaw {
	return flaw{settings: func(all settingsOf) { all[provider][setting] = value }}
}

// answering returns a function that answers requests to a path with a status and a body.
func answering(path string, status int, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

const nodeName = "node:ethereum-sepolia "

// strict starts a program whose sandbox has its strict switches on, and one subscription.
func strictSandbox(t *testing.T) *apptest.Program {
	t.Helper()
	p := apptest.Start(t, db.SQLite)
	steer(t, p.BaseURL, "/sandbox/vas-reference", map[string]any{"externalReference": "refused"}, "")
	tatum := sandboxSettings(t, p).Providers["tatum"]
	steer(t, tatum["base_url"], "/v4/subscription?type=testnet", map[string]any{"type": "ADDRESS_EVENT", "attr": map[string]string{
		"chain": "tron-testnet", "address": "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "url": "http://kobo.invalid/callbacks/tatum",
	}}, tatum["api_key"])
	return p
}

// Against the strict sandbox the command succeeds. Each planted fault makes exactly the named checks
// fail, and the command with them. The documentation explains each check.
func TestProviderCheckFindsEachPlantedFault(t *testing.T) {
	p := strictSandbox(t)
	all, failed, err := planted(t, p, flaw{})
	if err != nil || len(failed) > 0 || len(all) < 40 {
		t.Fatalf("the strict sandbox: %d checks, %v fail: %v", len(all), failed, err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating", "first-contact.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Result != provider.Fine {
			t.Errorf("%+v", one)
		}
		if !bytes.Contains(page, []byte("\n| `"+one.Check+"` |")) {
			t.Errorf("docs/operating/first-contact.md does not explain the check %q", one.Check)
		}
	}
	for name, c := range faults() {
		if name != "skewed clock" {
			t.Run(name, func(t *testing.T) { c.found(t, p) })
		}
	}
	t.Run("skewed clock", func(t *testing.T) { faults()["skewed clock"].found(t, p) }) // last, because the clock stays
}

// finding is a fault and the checks that must find it.
type finding struct {
	flaw
	want string // separated by semicolons
}

func (f finding) found(t *testing.T, p *apptest.Program) {
	if f.control != nil {
		f.control(func(path string, body map[string]any) { steer(t, p.BaseURL, path, body, "") })
	}
	all, failed, err := planted(t, p, f.flaw)
	if got := strings.Join(failed, "; "); got != f.want || err == nil || codeOf(err) != 1 {
		t.Errorf("failed: %s\nwant:   %s\n%v\n%+v", got, f.want, err, all)
	}
}

func faults() map[string]finding {
	const elsewhere = "66a0000000000000000000ff"
	fromNode := func(change func(n *chainNode)) flaw { return flaw{node: change} }
	return map[string]finding{
		"wrong client id":          {set("safehaven", "client_id", "someone-else"), "safehaven token"},
		"wrong key":                {flaw{settings: forgeAssertion}, "safehaven token"},
		"wrong main account":       {set("safehaven", "debit_account", "0100000002"), "safehaven main_account; safehaven balance; safehaven name_enquiry"},
		"unknown bank code":        {set("safehaven", "bank_code", "000000"), "safehaven bank_code; safehaven name_enquiry"},
		"code of another bank":     {set("safehaven", "bank_code", "090267"), "safehaven bank_code; safehaven name_enquiry"},
		"code of the live system":  {set("safehaven", "bank_code", "090286"), "safehaven name_enquiry"},
		"no VAS":                   {flaw{reply: answering("/vas/services", 403, `{"statusCode":403,"message":"Forbidden"}`)}, "safehaven catalogue"},
		"empty catalogue":          {flaw{reply: answering("/vas/services", 200, `{"statusCode":200,"data":[]}`)}, "safehaven catalogue"},
		"another not found":        {flaw{reply: answering("/transfers/status", 200, `{"statusCode":200,"data":{}}`)}, "safehaven transfer_lookup"},
		"wrong secret key":         {set("vtpass", "secret_key", "SK_wrong"), "vtpass secret_key; vtpass sale_lookup"},
		"wrong public key":         {set("vtpass", "public_key", "PK_wrong"), "vtpass public_key; vtpass catalogue"},
		"host that does not exist": {set("vtpass", "base_url", "http://127.0.0.1:1/api"), "vtpass host"},
		"wrong key at Sudo":        {set("sudo", "api_key", "wrong"), "sudo api_key"},
		"wrong debit account":      {set("sudo", "debit_account", elsewhere), "sudo debit_account; sudo funding_lookup"},
		"wrong key at Tatum":       {set("tatum", "api_key", "wrong"), "tatum subscriptions"},
		"webhooks of another host": {flaw{callback: "https://other.example"}, "tatum subscriptions"},
		"network not in the plan":  {flaw{reply: answering("/v3/tron/info", 402, `{"statusCode":402,"errorCode":"plan","message":"not in your plan"}`)}, "tatum networks"},
		"another program answers": {
			flaw{kobo: answering("/callbacks/", 200, "<html>welcome</html>")}, "safehaven webhook; sudo webhook; tatum webhook; vtpass webhook",
		},
		"Kobo of another environment": {
			flaw{kobo: answering("/healthz", 200, `{"status":"ok","environment":"live"}`)}, "safehaven webhook; sudo webhook; tatum webhook; vtpass webhook",
		},
		"wrong chain":  {fromNode(func(n *chainNode) { n.chain = 1 }), nodeName + "chain_id"},
		"batch of ten": {fromNode(func(n *chainNode) { n.most = 10 }), nodeName + "batch"},
		"stale head":   {fromNode(func(n *chainNode) { n.age = time.Hour }), nodeName + "head"},
		"no finality":  {fromNode(func(n *chainNode) { n.final = 0 }), nodeName + "finality"},
		"skewed clock": {
			flaw{control: func(post func(string, map[string]any)) { post("/sandbox/clock", map[string]any{"advance": "10m"}) }},
			"safehaven clock; sudo clock; tatum clock; vtpass clock",
		},
	}
}

// forgeAssertion replaces the signature of the client assertion.
func forgeAssertion(all settingsOf) {
	parts := strings.Split(all["safehaven"]["assertion"], ".")
	all["safehaven"]["assertion"] = parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2]))
}

// A provider without settings is left out, unless the command line names it. An unknown name is
// refused with the names that exist.
func TestProviderCheckNamesProviders(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	without := flaw{settings: func(all settingsOf) { delete(all, "vtpass") }}
	all, failed, err := planted(t, p, without)
	at := slices.IndexFunc(all, func(c provider.Checked) bool { return c.Provider == "vtpass" })
	if err != nil || len(failed) > 0 || at < 0 || all[at].Check != "configured" || all[at].Result != provider.Skipped {
		t.Errorf("%+v, %v, %v", all, failed, err)
	}
	if all, failed, err := planted(t, p, without, "vtpass"); err == nil || len(all) != 1 || !slices.Equal(failed, []string{"vtpass configured"}) {
		t.Errorf("%+v, %v, %v", all, failed, err)
	}
	all, _, err = planted(t, p, flaw{}, "sudo")
	if err != nil || slices.ContainsFunc(all, func(c provider.Checked) bool { return c.Provider != "sudo" }) {
		t.Errorf("%+v, %v", all, err)
	}
	if all, _, err := planted(t, p, flaw{}, "nobody"); err == nil || len(all) > 0 || !strings.Contains(err.Error(), "node:ethereum-sepolia, safehaven, sudo, tatum, vtpass") {
		t.Errorf("%+v, %v", all, err)
	}
}

// The recorded exchanges contain no secret of the settings, and only their owner can read them.
func TestProviderCheckRecordsNoSecret(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	folder := filepath.Join(t.TempDir(), "new")
	var secrets []string
	keep := flaw{settings: func(all settingsOf) {
		for settings := range maps.Values(all) {
			for name, value := range settings {
				if !strings.HasSuffix(name, "_url") && name != "bank_code" && name != "audience" && name != "complete_list" {
					secrets = append(secrets, value)
				}
			}
		}
	}}
	if _, failed, err := planted(t, p, keep, "--record", folder); err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 30 || len(secrets) < 10 {
		t.Fatalf("%d files, %d secrets, %v", len(files), len(secrets), err)
	}
	secrets = append(secrets, "aSecretKeyOfTheNode1", "KOBO SETTLEMENT")
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s contains %q:\n%s", f.Name(), s, text)
			}
		}
		var e provider.Exchange
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 || json.Unmarshal(text, &e) != nil || e.Response.Status == 0 || e.Request.Method == "" {
			t.Errorf("%s: %v %v\n%s", f.Name(), info.Mode(), err, text)
		}
	}
	if _, _, err := planted(t, p, flaw{}, "--record", folder); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second run into the same folder: %v", err)
	}
}
