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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, remedy(err))
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("open %s: a directory: name a file in it", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
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
