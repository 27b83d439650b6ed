package vault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/kljensen/snowball/english"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// The words of messages are indexed by triggers, so that no event can change a message and leave its old words behind. A
// trigger calls searchTokens, which SQLite knows on the connections of this program only: another one can read the file, but
// not write messages.

// connector opens such connections.
type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func openDB(dsn string) *sql.DB { return sql.OpenDB(connector{dsn, newDriver()}) }

func newDriver() *sqlite3.SQLiteDriver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterFunc("search_tokens", searchTokens, true)
	}}
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }

// searchTokens is what the index holds of a message. A migration that changes it must fill the index anew, since words are
// taken out of it by being made again.
func searchTokens(text string) string { return strings.Join(stems(text, map[string]string{}), " ") }

// stems gives the tokens of a text with the endings of English words cut off. What was cut once stands in known.
func stems(text string, known map[string]string) []string {
	out := tokens(text)
	for i, w := range out {
		stem, ok := known[w]
		if !ok {
			stem = stemmed(w)
			known[w] = stem
		}
		out[i] = stem
	}
	return out
}

// stemmed cuts the ending of an English word by the rules of Porter's second stemmer; what is not of Latin letters stays as
// it is. Words of other languages are cut in the index and in the query alike, so they are found all the same.
func stemmed(word string) string {
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return word
		}
	}
	if len(word) < 3 {
		return word
	}
	return english.Stem(word, true)
}

// stopWords carry the grammar of an English sentence and say nothing of what it is about.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`a about above after again against all am an and any are aren as at be because been before being below between both but by
		can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have haven having he her here hers
		herself him himself his how i if in into is isn it its itself just let ll m me more most mustn my myself no nor not now of off on once only or other our
		ours ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them themselves then there these they this
		those through to too under until up ve very was wasn we were weren what when where which while who whom whose why will with won would wouldn you your
		yours yourself yourselves`) {
		out[w] = true
	}
	return out
}()
