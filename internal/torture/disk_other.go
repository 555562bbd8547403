//go:build !linux

package torture

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// canFill says whether a run can fill the disk of its programs on this system.
const canFill = false

func canFillServer() bool { return false }

type disk struct{}

func diskOf(*cluster.Cluster) disk { return disk{} }

func diskOfOwn(func() ([]int, error)) disk { return disk{} }

func (disk) fill(context.Context, time.Duration) error {
	return errors.New("a run can fill a disk only on Linux")
}
