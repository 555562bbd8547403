package db

import (
	"database/sql"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/kobo-waas/kobo/internal/clock"
)

// kind states how a Go type is stored in a column. The methods of kind use switch statements. If
// kind contained functions instead, Declared.Record would copy each row to the heap.
type kind int8

const (
	text     kind = iota // a string
	number               // an int64 or an int
	instant              // a time.Time, stored as microseconds UTC
	flag                 // a bool, stored as 1 or 0
	document             // a []byte, stored as text
	revision             // an int64, stored as text
)

// kindOf returns the kind of a Go type, or false if no column can store the type. The parameter
// version is true for the version of a row, which is an integer stored as text.
func kindOf(t reflect.Type, version bool) (kind, bool) {
	switch {
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[clock.Instant](): // same memory layout
		return instant, true
	case version && t.Kind() == reflect.Int64:
		return revision, true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return document, true
	case t.Kind() == reflect.Bool:
		return flag, true
	case t.Kind() == reflect.String:
		return text, true
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int && strconv.IntSize == 64:
		return number, true // same memory layout
	}
	return 0, false
}

// column returns the type of the column that stores the kind.
func (k kind) column() Type {
	switch k {
	case number, instant, flag:
		return Int
	}
	return Text
}

// get returns the value of a field for a record, as a string or an int64.
func (k kind) get(field unsafe.Pointer) any {
	switch k {
	case number:
		return *(*int64)(field)
	case instant:
		return clock.Micros(*(*time.Time)(field))
	case flag:
		return Flag(*(*bool)(field))
	case document:
		return string(*(*[]byte)(field))
	case revision:
		return strconv.FormatInt(*(*int64)(field), 10)
	}
	return *(*string)(field)
}

// target returns the pointer through which a Scanner sets a field.
func (k kind) target(field unsafe.Pointer) any {
	switch k {
	case number:
		return (*int64)(field)
	case instant:
		return (*micros)(field)
	case flag:
		return (*bit)(field)
	case document:
		return (*body)(field)
	case revision:
		return (*digits)(field)
	}
	return (*string)(field)
}

// set sets a field to a value of a record.
func (k kind) set(field unsafe.Pointer, v any) (err error) {
	switch to := k.target(field).(type) {
	case *string:
		*to, err = held[string](v)
	case *int64:
		*to, err = held[int64](v)
	case sql.Scanner:
		err = to.Scan(v)
	}
	return err
}

// These types implement sql.Scanner for field types that a database driver cannot fill.
type (
	micros time.Time
	bit    bool
	body   []byte
	digits int64
)

// Scan reads an instant from microseconds.
func (m *micros) Scan(from any) error {
	n, err := held[int64](from)
	*m = micros(clock.Time(n))
	return err
}

// Scan reads a bool from 1 or 0.
func (b *bit) Scan(from any) error {
	n, err := held[int64](from)
	*b = n == 1
	return err
}

// Scan reads bytes from a text.
func (b *body) Scan(from any) error {
	s, err := held[string](from)
	*b = body(s)
	return err
}

// Scan reads an integer from the digits of a text.
func (d *digits) Scan(from any) error {
	s, err := held[string](from)
	if err == nil {
		var n int64
		n, err = strconv.ParseInt(s, 10, 64)
		*d = digits(n)
	}
	return err
}

func held[V any](from any) (V, error) {
	v, ok := from.(V)
	if !ok {
		return v, fmt.Errorf("the column holds a %T", from)
	}
	return v, nil
}
