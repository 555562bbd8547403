package db

// Alone lets a test keep everybody out of a SQLite file.
var Alone = alone

// ReplanAtOnce has a database keep no plans of batches.
func ReplanAtOnce(d *DB) { d.engine.(*postgres).replan = 0 }
