package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	described = regexp.MustCompile(`fqName: "([^"]*)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)
	labelName = regexp.MustCompile(`([a-z_]+)(?:=|!)`)
)

// metricsOf returns the labels of all metrics of a program, by name. Metrics of other projects'
// collectors are left out.
func metricsOf(t *testing.T) map[string][]string {
	t.Helper()
	a, _, err := OpenDev(t.Context(), DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Handler(); err != nil { // the API registers its metrics
		t.Fatal(err)
	}
	all := make(chan *prometheus.Desc)
	go func() {
		a.registry.Describe(all)
		close(all)
	}()
	out := map[string][]string{}
	for d := range all {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a description is not understood: %s", d)
		}
		if strings.HasPrefix(m[1], "kobo_") {
			out[m[1]] = strings.FieldsFunc(m[3], func(c rune) bool { return c == ',' })
			slices.Sort(out[m[1]])
		}
	}
	return out
}

// metricRow matches a line of docs/operating/metrics.md about one metric.
var metricRow = regexp.MustCompile("(?m)^\\| `(kobo_[a-z_]+)` \\|([^|]*)\\|")

// The page of metrics names each metric of the program with its labels, and no other.
func TestThePageOfMetricsIsComplete(t *testing.T) {
	metrics := metricsOf(t)
	named := map[string]bool{}
	for _, m := range metricRow.FindAllStringSubmatch(readFile(t, "docs/operating/metrics.md"), -1) {
		labels := strings.FieldsFunc(m[2], func(c rune) bool { return strings.ContainsRune("`, ", c) })
		slices.Sort(labels)
		if named[m[1]] = true; metrics[m[1]] == nil || !slices.Equal(labels, metrics[m[1]]) {
			t.Errorf("%s has the labels %q on the page, and %q in the program", m[1], labels, metrics[m[1]])
		}
	}
	for name := range metrics {
		if !named[name] {
			t.Errorf("docs/operating/metrics.md lacks %s", name)
		}
	}
}

type alertRule struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func alertRules(t *testing.T) (all []alertRule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alertRule } }
	if err := yaml.Unmarshal([]byte(readFile(t, "deploy/prometheus/alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

var (
	used     = regexp.MustCompile(`(kobo_[a-z_]+)(?:\{([^}]*)\})?`)
	quoted   = regexp.MustCompile(`"[^"]*"`)
	ofSeries = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// uses returns what an expression names wrongly: metrics, or labels of metrics, that do not exist.
func uses(expr string, metrics map[string][]string) (wrong []string) {
	for _, m := range used.FindAllStringSubmatch(expr, -1) {
		labels, there := metrics[m[1]]
		if !there {
			labels, there = metrics[ofSeries.ReplaceAllString(m[1], "")]
		}
		if !there {
			wrong = append(wrong, m[1])
		}
		for _, l := range labelName.FindAllStringSubmatch(quoted.ReplaceAllString(m[2], ""), -1) {
			if !slices.Contains(labels, l[1]) {
				wrong = append(wrong, m[1]+" "+l[1])
			}
		}
	}
	return wrong
}

// Alerts and the dashboard name only metrics and labels that exist.
func TestAlertsAndTheDashboardNameMetricsThatExist(t *testing.T) {
	metrics := metricsOf(t)
	if wrong := uses(`kobo_cases_open{reason="x",kind!="y"} + kobo_nothing + kobo_ledger_batch_seconds_sum`, metrics); !slices.Equal(wrong, []string{"kobo_cases_open kind", "kobo_nothing"}) {
		t.Fatalf("wrong names are not found: %q", wrong)
	}
	var exprs []string
	for _, r := range alertRules(t) {
		exprs = append(exprs, r.Expr)
	}
	var board struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(readFile(t, "deploy/grafana/kobo.json")), &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	if len(exprs) < 60 {
		t.Errorf("only %d expressions were found", len(exprs))
	}
	for _, expr := range exprs {
		if wrong := uses(expr, metrics); len(wrong) > 0 {
			t.Errorf("%q do not exist: %s", wrong, expr)
		}
	}
}

// Each alert has a severity, a summary, a test and a section of the runbook, and each section of the
// runbook is about an alert.
func TestTheRunbookHasASectionForEachAlert(t *testing.T) {
	const page = "https://github.com/kobo-waas/kobo/blob/main/docs/runbook.md#"
	tests, sections := readFile(t, "deploy/prometheus/alerts_test.yaml"), map[string]bool{}
	for _, text := range strings.Split(readFile(t, "docs/runbook.md"), "\n#")[1:] {
		name, text, _ := strings.Cut(text, "\n")
		if name, ok := strings.CutPrefix(name, "# "); ok {
			sections[name] = true
			for _, part := range []string{"**Means.**", "**Check.**", "**Do.**"} {
				if strings.Count(text, part) != 1 {
					t.Errorf("%s: the section needs one %s", name, part)
				}
			}
		}
	}
	for _, r := range alertRules(t) {
		if !sections[r.Alert] {
			t.Errorf("docs/runbook.md has no section %s", r.Alert)
		}
		delete(sections, r.Alert)
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: the severity %q", r.Alert, s)
		}
		if r.Annotations["summary"] == "" || r.Annotations["runbook_url"] != page+strings.ToLower(r.Alert) {
			t.Errorf("%s: the annotations %q", r.Alert, r.Annotations)
		}
		if !regexp.MustCompile(`alertname: ` + r.Alert + `\n.*\n +exp_alerts:\n +- exp_labels`).MatchString(tests) {
			t.Errorf("%s: alerts_test.yaml does not let it fire", r.Alert)
		}
	}
	for s := range sections {
		t.Errorf("docs/runbook.md has the section %s, which is no alert", s)
	}
}

// Each reason of a case is in exactly one of the alerts about open cases.
func TestEachReasonOfACaseHasAnAlert(t *testing.T) {
	found := map[string]int{}
	for _, r := range alertRules(t) {
		if m := regexp.MustCompile(`kobo_cases_open\{reason=~"([^"]*)"\}`).FindStringSubmatch(r.Expr); m != nil {
			for _, reason := range strings.Split(m[1], "|") {
				found[reason]++
			}
		}
	}
	for _, reason := range operation.Reasons() {
		if found[string(reason)] != 1 {
			t.Errorf("%s is in %d alerts", reason, found[string(reason)])
		}
		delete(found, string(reason))
	}
	if len(found) > 0 {
		t.Errorf("no reasons: %v", found)
	}
}

// The metric of API access tells why it is closed.
func TestTheMetricTellsWhyAPIAccessIsClosed(t *testing.T) {
	for reason, want := range map[string]string{
		"this database is an old copy: its epoch is 3, and kobo.epoch says 9: see docs/operating.md":   "old_copy",
		"the epoch file kobo.epoch is of another database: see docs/operating.md":                      "other_database",
		"restored from a backup: see docs/operating.md before opening it":                              "restore",
		"restored from a backup: see docs/operating.md before opening it; before that: a bank is away": "restore",
		"the checkpoints in /keep are of another database: see docs/operating/evidence.md":             "evidence",
		"an operator has changed the reason":                                                           "operator",
	} {
		if got := whyClosed(operator.Access{Closed: true, Automatic: true, Reason: reason}); got != want {
			t.Errorf("%s: %q, not %q", reason, got, want)
		}
		if got := whyClosed(operator.Access{Closed: true, Reason: reason}); got != "operator" {
			t.Errorf("%s, by an operator: %q", reason, got)
		}
	}
	if got := whyClosed(operator.Access{Reason: "once"}); got != "" {
		t.Errorf("open: %q", got)
	}
}

// The alert about reads of personal data counts what the operators' service counts. Each operation whose
// response shows personal data (x-personal) is recorded there, over HTTP and at the console.
func TestReadsOfPersonalDataHaveAnAlert(t *testing.T) {
	rules := alertRules(t)
	i := slices.IndexFunc(rules, func(r alertRule) bool { return r.Alert == "KoboPersonalDataRead" })
	operators := operator.New(nil, nil, nil)
	described := make(chan *prometheus.Desc, 1)
	operators.Metrics()[0].Describe(described)
	if name := "kobo_personal_reads_total"; !strings.Contains(rules[i].Expr, name) || !strings.Contains((<-described).String(), `"`+name+`"`) {
		t.Errorf("the alert counts %s", rules[i].Expr)
	}
}
