//go:build !linux

package bench

import "errors"

// use returns an error, because only Linux has /proc.
func (p process) use() (usage, error) {
	return usage{}, errors.New("kobo bench reads the processor time from /proc, which only Linux has")
}

func postmaster(int) (int, bool) { return 0, false }
