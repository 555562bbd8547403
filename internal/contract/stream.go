package contract

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Stream sends a long body that the function write writes. It reports whether the response has begun.
// A caller whose response has begun must abort the connection after an error, so that an incomplete
// body does not look complete.
func Stream(w http.ResponseWriter, write func(io.Writer) error) (begun bool, err error) {
	out := &deadlineWriter{w: w, control: http.NewResponseController(w)}
	buffer := bufio.NewWriterSize(out, 1<<16)
	if err = write(buffer); err == nil {
		err = buffer.Flush()
	}
	return out.begun, err
}

// deadlineWriter extends the write deadline while a slow caller still reads.
type deadlineWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	until   time.Time
}

const writeTimeout = time.Minute

// Write sends bytes and moves the write deadline of the connection. A deadline that cannot be moved is an error: the server would cut a
// long body at the first deadline, and nobody would know why. A writer that wraps another one thus needs the method Unwrap.
func (p *deadlineWriter) Write(b []byte) (int, error) {
	if now := time.Now(); now.After(p.until) {
		p.until = now.Add(writeTimeout / 2)
		if err := p.control.SetWriteDeadline(now.Add(writeTimeout)); err != nil && !isRecorder(p.w) {
			return 0, fmt.Errorf("contract: the write deadline could not be moved: %w", err)
		}
	}
	p.begun = true
	return p.w.Write(b)
}

// isRecorder reports whether a response goes to a recorder of tests (httptest.ResponseRecorder), which has no connection.
func isRecorder(w http.ResponseWriter) bool {
	for {
		switch inner := w.(type) {
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		case interface{ Result() *http.Response }:
			return true
		default:
			return false
		}
	}
}
