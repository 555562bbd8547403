package db

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/kobo-waas/kobo/internal/clock"
)

// kind is how a Go type is kept in a column.
type kind struct {
	column Type
	get    func(at unsafe.Pointer) any // a string or an int64
	target func(at unsafe.Pointer) any // for a Scanner
	set    func(at unsafe.Pointer, v any) error
}

// The types that a Scanner needs help with.
type (
	instant  time.Time
	flag     bool
	document []byte
	revision int64
)

func kindOf(t reflect.Type, counts bool) (kind, bool) {
	switch {
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[clock.Instant](): // the same in memory
		return helped[instant](Int), true
	case counts && t.Kind() == reflect.Int64:
		return helped[revision](Text), true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return helped[document](Text), true
	case t.Kind() == reflect.Bool:
		return helped[flag](Int), true
	case t.Kind() == reflect.String:
		return scanned[string](Text), true
	case t.Kind() == reflect.Int64:
		return scanned[int64](Int), true
	case t.Kind() == reflect.Int && strconv.IntSize == 64:
		return scanned[int64](Int), true // the same in memory
	}
	return kind{}, false
}

// scanned is a kind that the engines scan themselves.
func scanned[V any](column Type) kind {
	return kind{
		column: column,
		get:    func(at unsafe.Pointer) any { return *(*V)(at) },
		target: func(at unsafe.Pointer) any { return (*V)(at) },
		set: func(at unsafe.Pointer, v any) error {
			held, ok := v.(V)
			if !ok {
				return fmt.Errorf("it holds a %T", v)
			}
			*(*V)(at) = held
			return nil
		},
	}
}

// keeper is a pointer to one of the types above.
type keeper[V any] interface {
	*V
	Scan(from any) error
	kept() any
}

func helped[V any, P keeper[V]](column Type) kind {
	return kind{
		column: column,
		get:    func(at unsafe.Pointer) any { return P(at).kept() },
		target: func(at unsafe.Pointer) any { return P(at) },
		set:    func(at unsafe.Pointer, v any) error { return P(at).Scan(v) },
	}
}

func (i *instant) kept() any  { return clock.Micros(time.Time(*i)) }
func (f *flag) kept() any     { return Flag(bool(*f)) }
func (d *document) kept() any { return string(*d) }
func (n *revision) kept() any { return strconv.FormatInt(int64(*n), 10) }

// Scan reads microseconds.
func (i *instant) Scan(from any) error {
	n, err := held[int64](from)
	*i = instant(clock.Time(n))
	return err
}

// Scan reads 1 or 0.
func (f *flag) Scan(from any) error {
	n, err := held[int64](from)
	*f = n == 1
	return err
}

// Scan reads a text.
func (d *document) Scan(from any) error {
	s, err := held[string](from)
	*d = document(s)
	return err
}

// Scan reads digits.
func (n *revision) Scan(from any) error {
	s, err := held[string](from)
	if err == nil {
		var v int64
		v, err = strconv.ParseInt(s, 10, 64)
		*n = revision(v)
	}
	return err
}

func held[V any](from any) (V, error) {
	v, ok := from.(V)
	if !ok {
		return v, fmt.Errorf("it holds a %T", from)
	}
	return v, nil
}
