//go:build !nextschema

package vault

// madeUp is the migration of a version that does not exist: none in a normal binary.
var madeUp []string
