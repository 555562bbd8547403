package db

// Alone lets a test keep everybody out of a SQLite file.
var Alone = alone
