package operate

import "fmt"

// Wrong is a question or an order that cannot be carried out as it stands.
type Wrong struct{ words string }

func (w Wrong) Error() string { return w.words }

func wrong(format string, args ...any) error { return Wrong{fmt.Sprintf(format, args...)} }

// None is the answer that there is no such endpoint.
type None struct{ words string }

func (n None) Error() string { return n.words }
