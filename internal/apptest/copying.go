package apptest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/operator"
)

// childCopying is an environment variable for a child process. It names the backup or restore to
// make, and the step after which the process kills itself.
const childCopying = "KOBO_TEST_CHILD_COPYING"

type copying struct {
	Restore                    bool
	Data, Database, File, Dies string
	Overwrite                  bool
}

// Backup makes a backup in a separate process. The process kills itself after the step that the
// argument dies names.
func Backup(t testing.TB, h Home, file, dies string) {
	t.Helper()
	copyInChild(t, copying{Data: h.Data, Database: h.Database, File: file, Dies: dies, Overwrite: true})
}

// Restore restores a backup in a separate process. The process kills itself after the step that the
// argument dies names.
func Restore(t testing.TB, h Home, file, dies string) {
	t.Helper()
	copyInChild(t, copying{Restore: true, Data: h.Data, Database: h.Database, File: file, Dies: dies})
}

func copyInChild(t testing.TB, c copying) {
	t.Helper()
	what, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childCopying+"="+string(what))
	out, err := command.CombinedOutput()
	if killed := err != nil && command.ProcessState.ExitCode() == -1; killed != (c.Dies != "") {
		t.Fatalf("apptest: %+v ended with %v\n%s", c, err, out)
	}
}

// copyingMain is the main function of a process that makes or restores a backup.
func copyingMain(text string) error {
	var c copying
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	keys, err := app.DevConfig(c.Data, c.Database).Evidence()
	if err != nil {
		return err
	}
	k := app.Copying{
		Mode: app.Sandbox, Database: c.Database, File: c.File, Overwrite: c.Overwrite, By: operator.Local("test"), Signer: keys,
		Step: func(what string) {
			if what == c.Dies {
				die()
			}
		},
	}
	if c.Restore {
		_, _, err = app.Restore(context.Background(), k)
	} else {
		_, err = app.Backup(context.Background(), k)
	}
	return err
}
