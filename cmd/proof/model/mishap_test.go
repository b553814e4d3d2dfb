package model

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the stranger's driver
)

// This file is what happens to a store and a policy from outside.

// putPolicy makes p the policy file, in one step. give, if not nil, gives it its owner.
func putPolicy(t interface{ Fatal(...any) }, path string, p *policyFile, give func(path string)) {
	if p.text == "" {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path+".new", []byte(p.text), 0o600); err != nil {
		t.Fatal(err)
	}
	if give != nil {
		give(path + ".new")
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// stranger is another program that uses the store's file.
type stranger struct {
	path    string
	db      *sql.DB
	reading *sql.Conn
	damaged map[string]string // what was in the rows, by their ids
}

// open opens the file, if a server has made it.
func (s *stranger) open() bool {
	if info, err := os.Stat(s.path); err != nil || info.Size() == 0 {
		return false
	}
	if s.db == nil {
		db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: s.path, RawQuery: "mode=rw&_busy_timeout=60000"}).String())
		if err != nil {
			panic(err)
		}
		s.db, s.damaged = db, map[string]string{}
	}
	var n int // a disk that was full may have left it without
	return s.db.QueryRow(`SELECT count(*) FROM sqlite_master WHERE name = 'sessions'`).Scan(&n) == nil && n == 1
}

func (s *stranger) close() {
	if s.reading != nil {
		_ = s.reading.Close()
	}
	if s.db != nil {
		_ = s.db.Close()
	}
}

// lock keeps everybody else from writing.
func (s *stranger) lock() (*sql.Conn, error) {
	conn, err := s.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	_, err = conn.ExecContext(context.Background(), `BEGIN EXCLUSIVE`)
	return conn, err
}

// free ends a lock.
func (s *stranger) free(conn *sql.Conn) error {
	_, err := conn.ExecContext(context.Background(), `ROLLBACK`)
	return errors.Join(err, conn.Close())
}

// lockFor locks for a while. free is closed afterwards.
func (s *stranger) lockFor(t interface{ Fatal(...any) }, d time.Duration) (free <-chan struct{}) {
	conn, err := s.lock()
	if err != nil {
		t.Fatal(err)
	}
	c := make(chan struct{})
	go func() {
		defer close(c)
		time.Sleep(d)
		if err := s.free(conn); err != nil {
			panic(err)
		}
	}()
	return c
}

// readOn begins to read, or ends it.
func (s *stranger) readOn(t interface{ Fatal(...any) }) {
	if s.reading != nil {
		_, _ = s.reading.ExecContext(context.Background(), `ROLLBACK`)
		_ = s.reading.Close()
		s.reading = nil
		return
	}
	conn, err := s.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if _, err := conn.ExecContext(context.Background(), `BEGIN`); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRowContext(context.Background(), `SELECT count(*) FROM sessions`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	s.reading = conn
}

// damage replaces what is in a row by text and reports whether there was one.
func (s *stranger) damage(t interface{ Fatal(...any) }, run, text string) bool {
	if _, done := s.damaged[run]; done {
		return false
	}
	var old string
	if err := s.db.QueryRow(`SELECT payload FROM sessions WHERE run_id = ?`, run).Scan(&old); err != nil {
		return false
	}
	if _, err := s.db.Exec(`UPDATE sessions SET payload = ? WHERE run_id = ?`, text, run); err != nil {
		t.Fatal(err)
	}
	s.damaged[run] = old
	return true
}

// mend puts back what was in the damaged rows and returns their ids.
func (s *stranger) mend(t interface{ Fatal(...any) }) (runs []string) {
	for run, old := range s.damaged {
		result, err := s.db.Exec(`UPDATE sessions SET payload = ? WHERE run_id = ?`, old, run)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := result.RowsAffected(); n != 1 {
			t.Fatal("a damaged row was not left in place")
		}
		runs = append(runs, run)
	}
	clear(s.damaged)
	return runs
}
