package contract

import (
	"bufio"
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

// Write sends bytes and moves the write deadline of the connection.
func (p *deadlineWriter) Write(b []byte) (int, error) {
	p.begun = true
	if now := time.Now(); now.After(p.until) {
		p.until = now.Add(writeTimeout / 2)
		_ = p.control.SetWriteDeadline(now.Add(writeTimeout)) // a test's recorder has no deadline
	}
	return p.w.Write(b)
}
