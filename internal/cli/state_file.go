package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"proxyward/store"
)

// stateHead is the first line of an export, stateFoot the last one; a store.Saved stands on
// each line between them.
type stateHead struct {
	Format  int    `json:"proxyward_state"` // stateFormat
	Schema  int    `json:"schema"`
	Check   string `json:"check"`
	SavedMs int64  `json:"saved_ms"` // pool time
}

type stateFoot struct {
	Endpoints int `json:"endpoints"`
}

const stateFormat = 1

// readState reads an export, and gives its endpoints to put in batches; nil only checks.
func readState(file string, from io.Reader, put func([]store.Saved) error) (head stateHead, n int, err error) {
	in := bufio.NewReader(from)
	line := 0
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s:%d: %w", file, line, fmt.Errorf(format, args...))
	}
	var batch []store.Saved
	for ended := false; ; {
		text, readErr := readLine(in)
		if errors.Is(readErr, io.EOF) && len(text) == 0 {
			if !ended {
				return head, n, fmt.Errorf("%s is cut off after line %d: its last line says how many endpoints there are; export again", file, line)
			}
			return head, n, nil
		}
		line++
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return head, n, bad("%w", readErr)
		}
		switch {
		case ended:
			return head, n, bad("something stands after the last line of the export")
		case line == 1:
			if head, err = stateHeadOf(text); err != nil {
				return head, n, bad("%w", err)
			}
			continue
		}
		one, foot, err := stateLine(text)
		switch {
		case err != nil:
			return head, n, bad("%w", err)
		case foot == nil:
			n++
			batch = append(batch, one)
		case *foot != n:
			return head, n, bad("%d endpoints, where the last line says %d: the file was changed", n, *foot)
		default:
			ended = true
		}
		if !ended && len(batch) < restoreBatch {
			continue
		}
		if put != nil {
			if err := put(batch); err != nil {
				return head, n, err
			}
		}
		batch = batch[:0]
	}
}

// stateLineMax bounds a line of an export; a record is a few kilobytes at most.
const stateLineMax = 1 << 20

func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > stateLineMax {
			return nil, errors.New("a line longer than 1 MiB: this is no export of proxyward")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func stateHeadOf(text []byte) (h stateHead, err error) {
	if json.Unmarshal(text, &h) != nil || h.Format < 1 {
		return h, errors.New("this is no export of proxyward: `proxyward export` writes one (a list of proxies is imported without --state)")
	}
	if h.Format > stateFormat || h.Schema > store.Schema {
		return h, fmt.Errorf("this export is of format %d and schema %d, this proxyward knows %d and %d: use the newer one that wrote it",
			h.Format, h.Schema, stateFormat, store.Schema)
	}
	return h, nil
}

// stateLine is an endpoint, or the last line. Its errors hold nothing of the text: a
// password may stand in it.
func stateLine(text []byte) (one store.Saved, foot *int, err error) {
	var l struct {
		store.Saved
		Endpoints *int `json:"endpoints"`
	}
	if json.Unmarshal(text, &l) != nil {
		return one, nil, errors.New("no line of an export: it is not JSON, or its fields have other types")
	}
	if l.Endpoints != nil {
		return one, l.Endpoints, nil
	}
	return l.Saved, nil, l.Saved.Check()
}
