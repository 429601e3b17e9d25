package cli

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// output is standard output; it remembers that something could not be written, so that no
// command ends well whose report was lost.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// Write passes on, and notes the first failure.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Unwrap is what is written to.
func (o *output) Unwrap() io.Writer { return o.to }

// lost is why output was lost; nil too when the reader simply had enough (a closed pipe).
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("write output: %w", o.err)
}
