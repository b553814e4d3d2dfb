// Command mcpgostore is a minimal MCP server on mcp-go whose writing tools commit one row of a SQLite
// file, with the pragmas that qa-orch uses. The file is the one that SESSIONS names.
package main

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	_ "modernc.org/sqlite"

	"github.com/qa-orch/qa-orch/cmd/proof/bench/testdata/mcpgotools"
)

func main() {
	if serve() != nil {
		os.Exit(1)
	}
}

func serve() error {
	query := "mode=rwc&_txlock=immediate&_journal_mode=WAL&_synchronous=FULL&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(os.Getenv("SESSIONS")), RawQuery: query}).String())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL)`); err != nil {
		return err
	}
	if _, err := db.Exec(`INSERT OR REPLACE INTO sessions VALUES ('one', '')`); err != nil {
		return err
	}
	update, err := db.Prepare(`UPDATE sessions SET payload = ? WHERE run_id = 'one'`)
	if err != nil {
		return err
	}
	var n atomic.Int64 // SQLite writes nothing where the bytes are what they were
	return mcpgotools.Serve(func(text string) error {
		_, err := update.Exec(text + strconv.FormatInt(n.Add(1), 10))
		return err
	})
}
