package stdio

import (
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// sessionID is the id of the one session that a pair of pipes has.
const sessionID = "stdio"

// session is the client's side in the server library.
type session struct {
	notifications chan mcp.JSONRPCNotification
	initialized   atomic.Bool
	level         atomic.Value
}

var _ server.SessionWithLogging = (*session)(nil)

// notificationQueue is how many notifications wait for a slow client; beyond it
// the library drops them.
const notificationQueue = 100

func newSession() *session {
	s := &session{notifications: make(chan mcp.JSONRPCNotification, notificationQueue)}
	s.level.Store(mcp.LoggingLevelWarning)
	return s
}

// SessionID implements server.ClientSession.
func (s *session) SessionID() string { return sessionID }

// NotificationChannel implements server.ClientSession.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }

// Initialize implements server.ClientSession.
func (s *session) Initialize() { s.initialized.Store(true) }

// Initialized implements server.ClientSession.
func (s *session) Initialized() bool { return s.initialized.Load() }

// SetLogLevel implements server.SessionWithLogging.
func (s *session) SetLogLevel(level mcp.LoggingLevel) { s.level.Store(level) }

// GetLogLevel implements server.SessionWithLogging. Before the client sets one
// it gets warnings and worse.
func (s *session) GetLogLevel() mcp.LoggingLevel { return s.level.Load().(mcp.LoggingLevel) }

// Log sends a message to the client's log if the client wants that level. A
// message that can't be sent is dropped.
func Log(s *server.MCPServer, level mcp.LoggingLevel, logger, text string) {
	_ = s.SendLogMessageToSpecificClient(sessionID, mcp.NewLoggingMessageNotification(level, logger, text))
}
