package sources

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Name is what records call the list in the file at path.
func Name(path string) string { return "file:" + path }

// Read opens and parses the list at path.
func Read(path, defaultScheme string) (List, error) {
	f, err := Open(path)
	if err != nil {
		return List{}, err
	}
	defer f.Close()
	l, err := Parse(f, defaultScheme)
	if err != nil {
		return l, fmt.Errorf("list %s: %w", path, err)
	}
	return l, nil
}

// Open opens the list at path. Its errors say which file it is and how to mend it, and
// wrap the cause.
func Open(path string) (io.ReadCloser, error) {
	if path == "" {
		return nil, errors.New("open list: no file named")
	}
	info, err := os.Stat(path) // before the open: that of a pipe waits for a writer
	switch {
	case err != nil:
		return nil, cannotOpen(path, err)
	case info.IsDir():
		return nil, fmt.Errorf("open %s: a directory: name a file in it", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open %s: not a regular file: it could have no end, or never begin; write the list to a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	return f, nil
}

func cannotOpen(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("open %s: %w%s", path, err, remedy(err))
}

func remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ": write the list there, or correct the path"
	case errors.Is(err, fs.ErrPermission):
		return ": let the user that runs proxyward read it (chmod, chown, or a group)"
	}
	return ""
}
