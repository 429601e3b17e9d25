package cli

import (
	"context"
	"errors"
	"fmt"
)

// The exit statuses.
const (
	exitYes   = 0
	exitNo    = 1 // the answer is no: a probe failed, fsck found something, the pool is empty
	exitWrong = 2 // the input or the surroundings are wrong
)

// no is the answer "no". Its words, if any, go to standard error.
type no struct{ words string }

func (n no) Error() string { return n.words }

// sayNo ends the command with status 1 and a sentence.
func sayNo(format string, args ...any) error { return no{fmt.Sprintf(format, args...)} }

// quietNo ends the command with status 1; what there is to say has been said.
var quietNo error = no{}

// status is the exit status of an error and what is to be said on standard error.
func status(err error) (code int, words string) {
	var n no
	switch {
	case err == nil:
		return exitYes, ""
	case errors.As(err, &n):
		return exitNo, n.words
	case errors.Is(err, context.Canceled):
		return exitNo, "interrupted"
	}
	return exitWrong, err.Error()
}
