package advocate

import "fmt"

// FaultCode tells why a file is no valid review.
type FaultCode string

// The codes of a Fault.
const (
	FaultSyntax     FaultCode = "syntax"        // Number: the byte at which the JSON ends to be valid
	FaultNotObject  FaultCode = "not_object"    // JSON, but no object
	FaultType       FaultCode = "type"          // Field: has a value of the wrong type
	FaultTime       FaultCode = "time"          // Field: is no time
	FaultMissing    FaultCode = "missing"       // Field
	FaultUnknown    FaultCode = "unknown"       // Field: has an unknown value
	FaultRange      FaultCode = "range"         // Field
	FaultPhases     FaultCode = "phases"        // Field: has a phase that the mode does not have
	FaultContradict FaultCode = "contradiction" // phase and phase_index
	FaultItem       FaultCode = "item"          // Phase, Number: the item, Field
	FaultName       FaultCode = "name"          // the file's name is no review id
	FaultOtherID    FaultCode = "other_id"      // the id inside is not the name
	FaultLink       FaultCode = "link"          // a symbolic link
	FaultIrregular  FaultCode = "irregular"     // no regular file
	FaultTooLarge   FaultCode = "too_large"     // Number: the bytes that a file may have
	FaultUnreadable FaultCode = "unreadable"    // Cause
)

// Fault is why a file is no valid review. It repeats no value of the file.
type Fault struct {
	Code   FaultCode
	Field  string
	Phase  Phase
	Number int64
	Cause  error
}

func (f *Fault) Unwrap() error { return f.Cause }

func (f *Fault) Error() string {
	switch f.Code {
	case FaultSyntax:
		return fmt.Sprintf("no valid JSON at byte %d", f.Number)
	case FaultNotObject:
		return "it holds no JSON object"
	case FaultType:
		return f.Field + " has a value of the wrong type"
	case FaultTime:
		return f.Field + " is no time"
	case FaultMissing:
		return f.Field + " is missing"
	case FaultUnknown:
		return f.Field + " is unknown"
	case FaultRange:
		return f.Field + " is out of range"
	case FaultPhases:
		return f.Field + " has a phase that the mode does not have"
	case FaultContradict:
		return "phase and phase_index contradict each other"
	case FaultItem:
		return fmt.Sprintf("phases: item %d of %s has no valid %s", f.Number, f.Phase, f.Field)
	case FaultName:
		return "the name is no review id"
	case FaultOtherID:
		return "its id is not its name"
	case FaultLink:
		return "it is a symbolic link"
	case FaultIrregular:
		return "it is no regular file"
	case FaultTooLarge:
		return fmt.Sprintf("it is larger than %d bytes", f.Number)
	}
	return f.Cause.Error()
}
