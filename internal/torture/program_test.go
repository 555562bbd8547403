package torture

import (
	"strings"
	"testing"
)

// A program that has ended by itself is noted, although the schedule kills it afterwards.
func TestAKillDoesNotHideAnEnd(t *testing.T) {
	for script, deaths := range map[string]int{"exit 3": 1, "exec sleep 60": 0} {
		p := newProgram(0, []string{"/bin/sh", "-c", "read role; echo '{}'; " + script}, role{Data: t.TempDir()})
		if _, err := p.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if deaths > 0 {
			<-p.running().Died()
		}
		p.kill()
		if len(p.deaths) != deaths {
			t.Errorf("%s: %q", script, p.deaths)
		}
	}
}

// A panic that a program has survived is found in its log.
func TestPanicsAreFound(t *testing.T) {
	for line, want := range map[string]bool{
		"panic: runtime error": true, `level=ERROR msg="a job panicked" panic="nil map" stack=x`: true, `{"level":"ERROR","msg":"a plug panicked","panic":"nil map"}`: true,
		`level=WARN msg="http: panic serving 127.0.0.1:1: x"`: true, `level=ERROR msg=x error="operation: panic: nil map"`: true,
		"level=WARN msg=\"a job failed\" error=x": false,
	} {
		if tellsOfPanic(line) != want {
			t.Errorf("%s: %t", strings.TrimSpace(line), !want)
		}
	}
}
