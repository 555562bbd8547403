// Package memo keeps the results of reads in memory for a few seconds.
package memo

import (
	"sync"
	"time"
)

// Memo keeps the result of a read for each key. The zero value is ready for use, and keeps nothing
// until Keep is set.
type Memo[V any] struct {
	Keep time.Duration // how old a returned result may be

	mu      sync.RWMutex
	results map[string]result[V]
	drops   int // how often Drop was called
}

type result[V any] struct {
	value V
	at    time.Time
}

// Read returns the result for a key. If no recent result is kept, Read calls the function read. Read
// keeps no result of a read that failed. All callers share a result, so they must not change it.
func (m *Memo[V]) Read(now time.Time, key string, read func() (V, error)) (V, error) {
	m.mu.RLock()
	kept, drops := m.results[key], m.drops
	m.mu.RUnlock()
	if age := now.Sub(kept.at); age >= 0 && age < m.Keep {
		return kept.value, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drops == drops { // otherwise the read may have begun before the change
		if m.results == nil {
			m.results = map[string]result[V]{}
		}
		m.results[key] = result[V]{v, now}
	}
	return v, nil
}

// Drop forgets all results. A program calls Drop after it has changed what the reads return.
func (m *Memo[V]) Drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results = nil
	m.drops++
}
