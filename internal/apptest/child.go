package apptest

import (
	"os"
	"testing"
)

// Main runs the tests.
func Main(m *testing.M) { os.Exit(m.Run()) }
