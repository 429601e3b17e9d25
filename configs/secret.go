package configs

import (
	"fmt"
	"io"
)

// Secret is a value that prints itself redacted; only Reveal gives it away. The zero
// value is no secret at all.
type Secret struct {
	// A pointer since fmt calls no method of a value in somebody's unexported field but
	// prints what it finds there: of a pointer that is an address.
	value *string
}

const redacted = "[redacted]"

// NewSecret wraps a value; an empty one is no secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal is the value itself.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.value == nil }

// String says only whether there is a secret.
func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return redacted
}

// GoString is String: %#v gives nothing away either.
func (s Secret) GoString() string { return s.String() }

// Format is String for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText is String, for JSON and YAML too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
