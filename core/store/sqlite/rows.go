package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
)

// readRows returns every readable session of the file and how many rows can't be read.
func readRows(ctx context.Context, db querier) (sessions []review.Session, bad int, err error) {
	rows, err := db.QueryContext(ctx, `SELECT run_id, payload FROM sessions`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var runID, payload any
		if err := rows.Scan(&runID, &payload); err != nil {
			return nil, 0, err
		}
		var s review.Session
		if decode(runID, payload, &s) != nil {
			bad++
			continue
		}
		sessions = append(sessions, s)
	}
	return sessions, bad, rows.Err()
}

// newestFirst drops what has expired at now and sorts the rest by expiry, newest first.
func newestFirst(sessions []review.Session, now time.Time) []review.Session {
	sessions = slices.DeleteFunc(sessions, func(s review.Session) bool { return s.Expired(now) })
	slices.SortFunc(sessions, func(a, b review.Session) int {
		if before(&b, &a) {
			return -1
		}
		return 1
	})
	return sessions
}
