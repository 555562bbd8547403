package secret_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/kobo-waas/kobo/internal/secret"
)

// The file system of /proc answers the sync of a folder with EINVAL, as some network file systems do.
func TestAFileSystemMayHaveNoSyncOfFolders(t *testing.T) {
	proc, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(proc.Sync(), proc.Close()); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("/proc syncs folders, so this test shows nothing: %v", err)
	}
	if err := secret.SyncFolder("/proc"); err != nil {
		t.Error(err)
	}
	folder := t.TempDir()
	if err := secret.SyncFolder(folder); err != nil {
		t.Error(err)
	}
	if err := secret.SyncFolder(filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
