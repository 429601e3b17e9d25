package checks

import (
	"errors"
	"fmt"
)

// FieldError is one fault of a Spec.
type FieldError struct {
	Field string // path inside the check, as in YAML: request.url, steps[1].expect.status
	Msg   string // what is wrong and what would be right
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Msg }

// faults gathers what is wrong below one path.
type faults struct {
	path string // with its dot: "request.", "steps[1].request."
	errs *[]error
}

func (f faults) add(field, format string, args ...any) {
	*f.errs = append(*f.errs, &FieldError{Field: f.path + field, Msg: fmt.Sprintf(format, args...)})
}

func (f faults) below(path string) faults { return faults{f.path + path, f.errs} }

func (f faults) join() error { return errors.Join(*f.errs...) }
