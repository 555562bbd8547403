package torture

import (
	"context"
	"errors"
	"io"
	"net"
	"os"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/leash"
)

// role is what a child process runs.
type role struct{ Data, Database string }

// Child runs Kobo with simulated providers until its standard input ends. Only a run of this
// package starts it.
func Child(ctx context.Context, in io.Reader, out io.Writer) error {
	var r role
	ctx, tell, err := leash.Hold(ctx, in, out, &r)
	if err != nil {
		return err
	}
	cfg := config(r.Data, r.Database)
	cfg.EpochFile = epochFile(r.Data, r.Database)
	log, err := app.NewLogger(os.Stderr, cfg.Log)
	if err != nil {
		return err
	}
	a, c, err := app.OpenDev(ctx, cfg, false, log)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Close()
		return err
	}
	c.BaseURL = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var untold error
	err = a.Run(ctx, l, func() {
		if untold = tell(c); untold != nil {
			stop()
		}
	})
	return errors.Join(err, untold)
}
