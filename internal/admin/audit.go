package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/text"
)

// auditFilter returns the lines of the audit log that a request asks for.
func auditFilter(r *request) (f operator.AuditFilter, err error) {
	f.Company, f.Operator, f.Action = r.filter("company"), r.filter("operator"), r.filter("action")
	if f.From, err = day(r, "from", false); err == nil {
		f.To, err = day(r, "to", true)
	}
	return f, err
}

// day parses an instant, or a date, which is a whole day in Lagos. If end is true, it returns the
// start of the next millisecond or day.
func day(r *request, name string, end bool) (time.Time, error) {
	value, last := r.filter(name), 24*time.Hour
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, value, clock.Lagos)
	if err != nil {
		last = time.Millisecond
		t, err = time.Parse(time.RFC3339Nano, value)
	}
	if err != nil {
		return t, fault.Newf(fault.Invalid, "%q must be in ISO 8601 date format", name)
	}
	if end {
		t = t.Truncate(time.Millisecond).Add(last)
	}
	return t, nil
}

func (e *edge) listAudit(ctx context.Context, r *request) (any, error) {
	f, err := auditFilter(r)
	if err != nil {
		return nil, err
	}
	return continued(ctx, r, lineOf, f, e.Operators.SearchAudit, e.Operators.AuditAfter)
}

// file is the body of a response that is no JSON.
type file struct {
	name, kind string
	write      func(io.Writer) error
}

// send sends a file. An error after the first bytes aborts the connection.
func (e *edge) send(w http.ResponseWriter, r *http.Request, f file) {
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
	begun, err := contract.Stream(w, f.write)
	switch {
	case err == nil:
	case begun:
		e.Log.ErrorContext(r.Context(), "an export was aborted", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	default:
		w.Header().Del("Content-Disposition")
		e.refuse(w, r, err)
	}
}

// exportAudit returns the lines of the audit log as CSV, up to now. So the export ends, even if each
// line that it reads caused another.
func (e *edge) exportAudit(ctx context.Context, r *request) (any, error) {
	f, err := auditFilter(r)
	if err != nil {
		return nil, err
	}
	now := e.Clock.Now()
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	name := "audit-" + now.In(clock.Lagos).Format(time.DateOnly) + ".csv"
	return file{name, "text/csv; charset=utf-8", func(w io.Writer) error {
		out := csv.NewWriter(w)
		// The writer stores its first error, and Error returns that error.
		_ = out.Write([]string{"Time (Lagos)", "Time (UTC)", "Operator", "Company", "Action", "Subject", "Details", "Id"})
		err := e.Operators.EachLine(ctx, f, func(l operator.Line) error {
			details, err := json.Marshal(l.Details)
			if err != nil {
				return err
			}
			return out.Write([]string{
				l.CreatedAt.In(clock.Lagos).Format(time.DateTime), clock.Text(l.CreatedAt), text.Cell(l.Operator), text.Cell(l.Company), text.Cell(l.Action), text.Cell(l.Subject), string(details), l.ID,
			})
		})
		out.Flush()
		if err == nil {
			err = out.Error()
		}
		return err
	}}, nil
}
