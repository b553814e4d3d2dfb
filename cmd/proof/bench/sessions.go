package bench

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

const ttl = 24 * time.Hour

// newSession is the n-th session of a store, at triage since began+at.
func newSession(n int, at time.Time) review.Session {
	var id [16]byte
	for i := 15; n > 0; i-- {
		id[i] = byte(n)
		n >>= 8
	}
	s, err := review.Start(review.RunID(id), catalog.OrdinaryReview, func(policy.Stage) (policy.Assignment, error) {
		return policy.Default().Assign(policy.Stages()[0], catalog.Builtin()), nil
	}, at, ttl)
	if err != nil {
		panic(err)
	}
	return s
}

// touch moves the expiry, as every transition does.
func touch(at time.Time) func(review.Session) (review.Session, error) {
	return func(s review.Session) (review.Session, error) {
		s.ExpiresAt = review.Expiry(at, ttl)
		return s, nil
	}
}

// bare is a SQLite file with one table and no index beside it, used with the
// pragmas that the store uses, on one connection.
type bare struct {
	db                     *sql.DB
	get, insert, set, list *sql.Stmt
}

func openBare(path string) (_ *bare, err error) {
	query := "mode=rwc&_busy_timeout=5000&_txlock=immediate&_journal_mode=WAL&_synchronous=FULL&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)"
	b := &bare{}
	b.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: query}).String())
	if err != nil {
		return nil, err
	}
	b.db.SetMaxOpenConns(1)
	if _, err = b.db.Exec(`CREATE TABLE IF NOT EXISTS sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL)`); err != nil {
		return nil, err
	}
	for stmt, query := range map[**sql.Stmt]string{
		&b.get:    `SELECT payload FROM sessions WHERE run_id = ?`,
		&b.insert: `INSERT INTO sessions VALUES (?, ?)`,
		&b.set:    `UPDATE sessions SET payload = ? WHERE run_id = ?`,
		&b.list:   `SELECT payload FROM sessions`,
	} {
		if *stmt, err = b.db.Prepare(query); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// fill inserts n sessions in one transaction.
func (b *bare) fill(n int, now time.Time) error {
	tx, err := b.db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(b.insert)
	for i := range n {
		s := newSession(i+1, now.Add(time.Duration(i*7919%60_000)*time.Millisecond))
		payload, err := s.MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := insert.Exec(s.RunID, string(payload)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// filledStore is a store of n sessions in a file.
func filledStore(ctx context.Context, path string, n int, now time.Time) (*sqlite.Store, error) {
	s := sqlite.New(path, nil)
	if err := s.Open(ctx); err != nil {
		return nil, err
	}
	b, err := openBare(path)
	if err != nil {
		return nil, err
	}
	if err := b.fill(n, now); err != nil {
		return nil, err
	}
	return s, b.db.Close()
}

// differing returns a function that gives payloads of one length, never the same
// twice running: SQLite writes nothing where the bytes are what they were.
func differing(now time.Time) (func() string, error) {
	payload, err := newSession(1, now).MarshalJSON()
	if err != nil {
		return nil, err
	}
	id := []byte(newSession(1, now).RunID)
	n := uint64(0)
	return func() string {
		n++
		return string(bytes.Replace(payload, id, fmt.Appendf(nil, "qar-%032x", n), 1))
	}, nil
}

// transition times durable changes of one session.
func (b *bench) transition() (string, error) {
	ctx := b.ctx
	folder, err := os.MkdirTemp(b.folder, "transition-")
	if err != nil {
		return "", err
	}
	now := time.Now()
	s, err := filledStore(ctx, filepath.Join(folder, "own"), 1, now)
	if err != nil {
		return "", err
	}
	defer s.Close()
	plain, err := openBare(filepath.Join(folder, "bare"))
	if err != nil {
		return "", err
	}
	defer plain.db.Close()
	if err := plain.fill(1, now); err != nil {
		return "", err
	}
	id := newSession(1, now).RunID
	texts, err := differing(now)
	if err != nil {
		return "", err
	}
	turn := 0
	t, err := compete(20, b.turns(1000),
		timed(func() error {
			turn++
			_, err := s.Update(ctx, id, touch(now.Add(time.Duration(turn)*time.Millisecond)))
			return err
		}),
		timed(func() error {
			_, err := plain.set.Exec(texts(), id)
			return err
		}),
		timed(func() error { // what a transition can't do without: read, decide, write
			tx, err := plain.db.Begin()
			if err != nil {
				return err
			}
			defer tx.Rollback()
			var text string
			if err := tx.Stmt(plain.get).QueryRow(id).Scan(&text); err != nil {
				return err
			}
			if _, err := tx.Stmt(plain.set).Exec(texts(), id); err != nil {
				return err
			}
			return tx.Commit()
		}))
	if err != nil {
		return "", err
	}
	rows := []row{
		{"a transition in the store", "a bare `UPDATE` of one row, committed", t[0], t[1]},
		{"a transition in the store", "`BEGIN`, `SELECT`, `UPDATE`, `COMMIT`", t[0], t[2]},
	}

	home, env, err := b.home()
	if err != nil {
		return "", err
	}
	own, err := b.serve(append(env, "QA_ORCHESTRATOR_SESSION_STORE_PATH="+storeAt(home)), b.own, "serve")
	if err != nil {
		return "", err
	}
	defer own.end()
	other, err := b.serve(append(env, "SESSIONS="+storeAt(folder)), b.refs["mcpgostore"], b.tools)
	if err != nil {
		return "", err
	}
	defer other.end()
	times, err := b.reviews(b.turns(200), own, []*wire{other}, false)
	if err != nil {
		return "", err
	}
	for _, tool := range []string{startTool, advanceTool, finishTool} {
		name, _, _ := strings.Cut(tool, "_")
		rows = append(rows, row{name + " over stdio", "the same tool on mcp-go that commits one row", times[tool][0], times[tool][1]})
	}
	return "Every commit is on the disk before the answer. All sides use the same driver and pragmas: WAL, `synchronous = FULL`.\n\n" + table(rows, true), nil
}

// scale times calls with 100 and with 100,000 sessions.
func (b *bench) scale() (string, error) {
	const few, many = 100, 100_000
	now := time.Now()
	var lines []string
	add := func(what, beside string, t []samples) {
		own, base := t[1].median()/t[0].median(), t[3].median()/t[2].median()
		lines = append(lines, fmt.Sprintf("| %s | %s | **%s** | %s | %s | %s | %s | %s | %s |\n", what, beside, ratio(t[1].median()/t[3].median()), ratio(own), ratio(base),
			duration(t[0].median()), duration(t[1].median()), duration(t[2].median()), duration(t[3].median())))
	}
	if err := b.scaleMemory(few, many, now, add); err != nil {
		return "", err
	}
	if err := b.scaleSQLite(few, many, now, add); err != nil {
		return "", err
	}
	return "The ratio is that of the two sides with 100,000 sessions; the growths are how many times a call costs with 100,000 what it costs with 100. " +
		"Listing is per session.\n\n" +
		"| qa-orch | beside | ratio | growth | growth beside it | 100 | 100,000 | beside, 100 | beside, 100,000 |\n|---|---|---|---|---|---|---|---|---|\n" + strings.Join(lines, ""), nil
}

// plainMap is what plain Go offers for sessions in memory.
type plainMap struct {
	mu sync.Mutex
	m  map[string]review.Session
}

// batch repeats something that is too quick for the clock; the samples are per repetition.
const batch = 200

func batched(f func() error) run {
	return func() (time.Duration, error) {
		began := time.Now()
		for range batch {
			if err := f(); err != nil {
				return 0, err
			}
		}
		return time.Since(began) / batch, nil
	}
}

func (b *bench) scaleMemory(few, many int, now time.Time, add func(string, string, []samples)) error {
	ctx := b.ctx
	var get, update, create, list [4]run
	for i, n := range []int{few, many} {
		m, p := store.NewMemory(), &plainMap{m: map[string]review.Session{}}
		ids := make([]string, n)
		for j := range n {
			s := newSession(j+1, now.Add(time.Duration(j*7919%60_000)*time.Millisecond))
			ids[j] = s.RunID
			m.Put(s)
			p.m[s.RunID] = s
		}
		next := 0
		pick := func() string { next++; return ids[next*7919%n] }
		get[i] = batched(func() error { _, err := m.Get(ctx, pick()); return err })
		get[i+2] = batched(func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if s := p.m[pick()]; s.RunID == "" {
				return store.ErrNotFound
			}
			return nil
		})
		later := func() func(review.Session) (review.Session, error) {
			next++
			return touch(now.Add(time.Duration(next%60_000) * time.Millisecond))
		}
		update[i] = batched(func() error { _, err := m.Update(ctx, pick(), later()); return err })
		update[i+2] = batched(func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			s, err := later()(p.m[pick()])
			p.m[s.RunID] = s
			return err
		})
		fresh := newSession(many+1, now)
		create[i] = batched(func() error {
			if err := m.Create(ctx, fresh, now, 10*many); err != nil {
				return err
			}
			m.Remove(fresh.RunID)
			return nil
		})
		create[i+2] = batched(func() error {
			p.mu.Lock()
			p.m[fresh.RunID] = fresh
			p.mu.Unlock()
			p.mu.Lock()
			delete(p.m, fresh.RunID)
			p.mu.Unlock()
			return nil
		})
		each := func(f func() error) run {
			repeat := max(1, few*10/n)
			return func() (time.Duration, error) {
				began := time.Now()
				for range repeat {
					if err := f(); err != nil {
						return 0, err
					}
				}
				return time.Since(began) / time.Duration(repeat), nil
			}
		}
		list[i] = each(func() error { _, err := m.List(ctx, now); return err })
		list[i+2] = each(func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			all := make([]review.Session, 0, len(p.m))
			for _, s := range p.m {
				all = append(all, s)
			}
			slices.SortFunc(all, func(a, b review.Session) int { return b.ExpiresAt.Compare(a.ExpiresAt) })
			return nil
		})
	}
	for _, c := range []struct {
		what, beside string
		runs         [4]run
		turns        int
	}{
		{"memory: get", "a map under a lock", get, 500},
		{"memory: update", "a map under a lock", update, 300},
		{"memory: create, and removing it", "a map under a lock", create, 300},
		{"memory: list, per session", "a map copied and sorted", list, 6},
	} {
		t, err := compete(3, b.turns(c.turns), c.runs[:]...)
		if err != nil {
			return err
		}
		if strings.Contains(c.what, "list") {
			t = []samples{t[0].per(few), t[1].per(many), t[2].per(few), t[3].per(many)}
		}
		add(c.what, c.beside, t)
	}
	return nil
}

func (b *bench) scaleSQLite(few, many int, now time.Time, add func(string, string, []samples)) error {
	ctx := b.ctx
	folder, err := os.MkdirTemp(b.folder, "scale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var get, update, create, after, list [4]run
	for i, n := range []int{few, many} {
		ownPath, barePath := filepath.Join(folder, fmt.Sprint("own", n)), filepath.Join(folder, fmt.Sprint("bare", n))
		s, err := filledStore(ctx, ownPath, n, now)
		if err != nil {
			return err
		}
		defer s.Close()
		other := sqlite.New(ownPath, nil)
		defer other.Close()
		plain, err := openBare(barePath)
		if err != nil {
			return err
		}
		defer plain.db.Close()
		if err := plain.fill(n, now); err != nil {
			return err
		}
		plainOther, err := openBare(barePath)
		if err != nil {
			return err
		}
		defer plainOther.db.Close()

		turn := 0
		pick := func() string { turn++; return newSession(1+turn*7919%n, now).RunID }
		get[i] = timed(func() error { _, err := s.Get(ctx, pick()); return err })
		get[i+2] = timed(func() error {
			var text string
			return plain.get.QueryRow(pick()).Scan(&text)
		})
		update[i] = timed(func() error {
			_, err := s.Update(ctx, pick(), touch(now.Add(time.Duration(turn%60_000)*time.Millisecond)))
			return err
		})
		text, err := differing(now)
		if err != nil {
			return err
		}
		update[i+2] = timed(func() error { _, err := plain.set.Exec(text(), pick()); return err })
		next := n
		fresh := func() review.Session { next++; return newSession(next, now) }
		insert := func(p *bare) error { _, err := p.insert.Exec(fresh().RunID, text()); return err }
		create[i] = timed(func() error { return s.Create(ctx, fresh(), now, 100*many) })
		create[i+2] = timed(func() error { return insert(plain) })
		after[i] = func() (time.Duration, error) {
			if err := other.Create(ctx, fresh(), now, 100*many); err != nil {
				return 0, err
			}
			return create[i]()
		}
		after[i+2] = func() (time.Duration, error) {
			if err := insert(plainOther); err != nil {
				return 0, err
			}
			return create[i+2]()
		}
		list[i] = timed(func() error { _, err := s.List(ctx, now); return err })
		list[i+2] = timed(func() error {
			rows, err := plain.list.Query()
			if err != nil {
				return err
			}
			defer rows.Close()
			var all []map[string]any
			for rows.Next() {
				var text []byte
				var v map[string]any
				if err := rows.Scan(&text); err != nil {
					return err
				}
				if err := json.Unmarshal(text, &v); err != nil {
					return err
				}
				all = append(all, v)
			}
			if len(all) < n {
				return fmt.Errorf("%d of %d sessions", len(all), n)
			}
			return rows.Err()
		})
	}
	for _, c := range []struct {
		what, beside string
		runs         [4]run
		turns        int
	}{
		{"SQLite: get", "a bare `SELECT`", get, 2000},
		{"SQLite: update", "a bare `UPDATE`, committed", update, 300},
		{"SQLite: create", "a bare `INSERT`, committed", create, 300},
		{"SQLite: create after another process wrote", "a bare `INSERT` after another one", after, 50},
		{"SQLite: list, per session", "`SELECT` and encoding/json", list, 2},
	} {
		warm := 3
		if strings.Contains(c.what, "list") {
			warm = 0
		}
		t, err := compete(warm, b.turns(c.turns), c.runs[:]...)
		if err != nil {
			return err
		}
		if strings.Contains(c.what, "list") {
			t = []samples{t[0].per(few), t[1].per(many), t[2].per(few), t[3].per(many)}
		}
		add(c.what, c.beside, t)
	}
	return nil
}
