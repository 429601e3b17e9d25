// Package files reads files that a person named, whatever they turn out to be.
package files

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// patience is how long a pipe or a device may take to be read.
const patience = 5 * time.Second

// Open opens a file for reading. A pipe to which nobody writes does not hold it up: it is
// empty; and what never ends gives os.ErrDeadlineExceeded.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.SetReadDeadline(time.Now().Add(patience)) // a regular file has none, and needs none
	}
	return f, err
}

// Read reads a file whole. More than most bytes are an error.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("read %s: over %d KiB", path, most>>10)
	}
	return b, err
}
