//go:build !unix

package cluster

import (
	"context"
	"errors"
	"syscall"
)

var errUnix = errors.New("a private PostgreSQL server needs a Unix system")

func unprivileged(string) (*syscall.SysProcAttr, error) { return nil, errUnix }

// Freeze fails on this system.
func (c *Cluster) Freeze() error { return errUnix }

// Wake fails on this system.
func (c *Cluster) Wake() error { return errUnix }

// Kill fails on this system.
func (c *Cluster) Kill(context.Context) error { return errUnix }

// Runs reports that there is no server.
func (c *Cluster) Runs() bool { return false }
