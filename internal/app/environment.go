package app

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Mode is the purpose of a deployment.
type Mode string

// A deployment runs in one of these modes. The modes differ in the addresses that the plugs call, in
// the clock, and in the rules below. Code that moves money does not depend on the mode.
const (
	Live    Mode = "live"    // real money
	Staging Mode = "staging" // the test systems of the providers, and test networks
	Sandbox Mode = "sandbox" // providers that this program simulates
)

// Environment returns the name of the mode that the API shows.
func (m Mode) Environment() deployment.Environment {
	if m == Sandbox {
		return deployment.Dev
	}
	return deployment.Environment(m)
}

// rules are the rules that differ between the modes. The tag of a rule is its line in the table of
// docs/operating/environments.md, which gives the reasons.
type rules struct {
	simulates       bool `rule:"This program simulates the providers, and its clock can be moved"`
	testNetworks    bool `rule:"Only test networks of blockchains"`
	testKeys        bool `rule:"Published test keys may derive deposit addresses"`
	webhooksHere    bool `rule:"Webhooks may lead to this machine, over http too, while listen is on loopback"`
	plainPublicURL  bool `rule:"public_url may be an http address of this machine"`
	needsCallback   bool `rule:"callback_base must be set, with https"`
	needsEvidence   bool `rule:"evidence_key_file must be set"`
	needsSSLMode    bool `rule:"The URL of a database on another machine must name sslmode"`
	needsTwo        bool `rule:"Four eyes are on, unless four_eyes is off"`
	hidesSecrets    bool `rule:"Operators see no API key and no PIN, while four eyes are on"`
	warnsOfExposure bool `rule:"Warnings of an open /metrics, of a role with more rights, and without checkpoint_folder"`
}

var modes = map[Mode]rules{
	Sandbox: {simulates: true, testNetworks: true, testKeys: true, webhooksHere: true, plainPublicURL: true},
	Staging: {
		testNetworks: true, testKeys: true,
		needsCallback: true, needsEvidence: true, needsSSLMode: true, needsTwo: true, warnsOfExposure: true,
	},
	Live: {
		needsCallback: true, needsEvidence: true, needsSSLMode: true, needsTwo: true, warnsOfExposure: true, hidesSecrets: true,
	},
}

// rules returns the rules of the mode. A mistyped mode has the rules of live mode, because a command
// may use them before it has checked the mode.
func (m Mode) rules() rules {
	if r, ok := modes[m]; ok {
		return r
	}
	return modes[Live]
}

// Check refuses a mode that does not exist.
func (m Mode) Check() error {
	_, ok := modes[m]
	return errorIf(!ok, "mode must be live, staging or sandbox, not %q", m)
}

// CheckEnvironment returns an error if the database belongs to a different environment than the
// configuration. A database with which no program has served belongs to none.
func (c Config) CheckEnvironment(ctx context.Context, d *db.DB) error {
	if err := c.Mode.Check(); err != nil {
		return err
	}
	return deployment.Match(ctx, d, c.Mode.Environment())
}

// webhooksHere reports whether webhooks may lead to this machine. They may not in a hosted sandbox,
// whose companies could otherwise reach other programs of the host.
func (c Config) webhooksHere() bool {
	return c.Mode.rules().webhooksHere && provider.IsLocal(&url.URL{Host: c.Listen})
}

// systems are the addresses of a provider: of its live system, and of its test system.
type systems struct{ live, staging string }

// of returns the address of the system that a mode uses. In sandbox mode it returns "".
func (s systems) of(m Mode) string {
	switch m {
	case Live:
		return s.live
	case Staging:
		return s.staging
	}
	return ""
}

// validAddress takes the place of a refused address, because the plug's own check then finds
// further errors.
const validAddress = "https://provider.example"

// checkAddress returns an error if the address of a provider is not allowed in the mode. An empty
// address is allowed. It replaces a refused address with a valid one. The argument known contains
// the provider's own systems.
func (m Mode) checkAddress(setting string, address *string, known ...systems) error {
	if *address == "" {
		return nil
	}
	wrong := m.checkSystem(setting, *address, known...)
	if u, err := url.Parse(*address); err != nil || u.Scheme != "https" {
		wrong = errorIf(true, "%s must be an https URL in %s mode", setting, m)
	}
	if wrong != nil {
		*address = validAddress
	}
	return wrong
}

// checkSystem returns an error if a URL names a test system in live mode, or one of the provider's
// live systems in staging mode.
func (m Mode) checkSystem(setting, address string, known ...systems) error {
	u, err := url.Parse(address)
	if err != nil {
		return nil // an assertion's audience may be any text
	}
	isLive := slices.ContainsFunc(known, func(s systems) bool { return !isSandbox(u) && sameDomain(u, s.live) })
	return errors.Join(
		errorIf(m == Live && isSandbox(u), "%s is a sandbox: live mode refuses to start with it", setting),
		errorIf(m == Staging && isLive, "%s is the provider's live system: staging mode refuses to start with it", setting))
}

// testHost matches the names of hosts that are not for real money.
var testHost = regexp.MustCompile(`sandbox|(^|[.-])(staging|test|testnet|uat)([.-]|$)`)

// isSandbox reports whether a URL leads to a provider's test system or to this machine.
func isSandbox(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return testHost.MatchString(host) || host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

// sameDomain reports whether a URL's host is in the domain of an address, such as vtpass.com.
func sameDomain(u *url.URL, address string) bool {
	of, err := url.Parse(address)
	if err != nil || of.Hostname() == "" {
		return false
	}
	labels := strings.Split(of.Hostname(), ".")
	domain := strings.Join(labels[max(len(labels)-2, 0):], ".")
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// checkNetworks refuses networks of another environment. The coins of a test network have no value,
// so they must not be credited in live mode.
func (m Mode) checkNetworks(list []chain.Network) error {
	var all []error
	for _, n := range list {
		kind := "a main network"
		if n.Testnet {
			kind = "a test network"
		}
		all = append(all, errorIf(n.Testnet != m.rules().testNetworks, "crypto.networks: %s is %s: %s mode refuses it", n.ID, kind, m))
	}
	return errors.Join(all...)
}
