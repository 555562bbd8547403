//go:build !unix

package torture

import (
	"errors"
	"os"
)

var errFreeze = errors.New("processes cannot be frozen on this system")

func freeze(*os.Process) error { return errFreeze }

func thaw(*os.Process) error { return errFreeze }
