package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

var errReference = errors.New("unknown reference: write ${env:NAME} or ${file:NAME}, or $${ for a plain ${")

// expand replaces the references in a value. What they stand for is never in an error,
// and is not looked at for further references.
func (e Env) expand(s string) (out string, referred bool, err error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "${")
		if !found {
			b.WriteString(s)
			return b.String(), referred, nil
		}
		if literal, doubled := strings.CutSuffix(before, "$"); doubled {
			b.WriteString(literal + "${")
			s = after
			continue
		}
		inside, rest, closed := strings.Cut(after, "}")
		if !closed {
			return "", true, errReference
		}
		value, err := e.resolve(inside)
		if err != nil {
			return "", true, err
		}
		b.WriteString(before + value)
		s, referred = rest, true
	}
}

func (e Env) resolve(reference string) (string, error) {
	kind, name, _ := strings.Cut(reference, ":")
	switch {
	case name == "":
		return "", errReference
	case kind == "file":
		return e.secretFile(name)
	case kind == "env":
		value, ok := e.Lookup(name)
		if !ok {
			return "", fmt.Errorf("the environment variable %s is not set: set it for proxyward, or write the value here", name)
		}
		if value == "" {
			return "", fmt.Errorf("the environment variable %s is empty: give it a value, or remove this line", name)
		}
		return value, nil
	}
	return "", errReference
}

// secretFile reads a credential: relative names are files in $CREDENTIALS_DIRECTORY. One
// newline at the end is not part of it.
func (e Env) secretFile(name string) (string, error) {
	path := name
	if !filepath.IsAbs(name) {
		dir, _ := e.Lookup("CREDENTIALS_DIRECTORY")
		switch {
		case dir == "":
			return "", fmt.Errorf("the file %s is looked for in $CREDENTIALS_DIRECTORY, which is not set: start under systemd with LoadCredential=, or write an absolute path", name)
		case !filepath.IsLocal(name):
			return "", fmt.Errorf("the file %s leads out of $CREDENTIALS_DIRECTORY: write an absolute path", name)
		}
		path = filepath.Join(dir, name)
	}
	b, err := e.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the file %s cannot be read: %s", path, why(err))
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	if value == "" {
		return "", fmt.Errorf("the file %s is empty: write the value into it", path)
	}
	return value, nil
}

// why is the cause and the remedy, without the path, which the caller tells.
func why(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is none: create it, or correct the path"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied: let the user that runs proxyward read it"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}
