package db

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// SQLite spells these expressions differently. All other expressions are common to both engines.
//
//	x = ANY($1)    →  x IN (SELECT value FROM json_each($1))
//	… FOR UPDATE   →  …            (SQLite has one writer at a time)
//	LOCK TABLE …;  →               (in migrations, for the same reason)
//	… (fillfactor) →               (in migrations, because SQLite changes a row in its place)
//	… (autovacuum…) →              (in migrations, for the same reason)
//	strpos(x, y)   →  instr(x, y)  (the position of y in x, or 0)
var (
	anyOf     = regexp.MustCompile(`= ANY\((\$\d+)\)`)
	forUpdate = regexp.MustCompile(`\s+FOR UPDATE\b`)
	lockTable = regexp.MustCompile(`(?m)^LOCK TABLE [^;]*;\n`)
	fill      = regexp.MustCompile(`(?m)^ALTER TABLE \w+ (SET|RESET) \((fillfactor|autovacuum_)[^;]*;\n`)
	strpos    = regexp.MustCompile(`\bstrpos\(`)
)

func forSQLite(query string) string {
	return cached(query, func() string {
		s := anyOf.ReplaceAllString(query, "IN (SELECT value FROM json_each($1))")
		s = strpos.ReplaceAllString(s, "instr(")
		return forUpdate.ReplaceAllString(s, "")
	})
}

// argsForSQLite converts lists to JSON texts, which json_each reads.
func argsForSQLite(args []any) ([]any, error) {
	out := args
	for i, a := range args {
		switch a.(type) {
		case []string, []int64:
			if &out[0] == &args[0] {
				out = append([]any(nil), args...)
			}
			b, err := json.Marshal(a)
			if err != nil {
				return nil, err
			}
			out[i] = string(b)
		}
	}
	return out, nil
}

// numbered returns a list of n parameters for an SQL statement. The list begins with the parameter
// whose number is first. So numbered(3, 3) returns "$3, $4, $5".
func numbered(first, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(parts, ", ")
}
