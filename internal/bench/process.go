package bench

// process is one or several processes whose processor time the bench counts together.
type process struct {
	name string
	pid  int
	tree bool // also the children of the process
}

// usage is what a process has used since its start.
type usage struct {
	cpu     int64 // nanoseconds
	memory  int64 // bytes
	written int64 // bytes that the process caused to be written to the disk
}
