package cli

import (
	"os"
	"path/filepath"
)

// wholeFile is a file that appears under its name only when it is complete, readable by its
// owner only.
type wholeFile struct {
	*os.File
	name string
}

func createWhole(name string) (*wholeFile, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	return &wholeFile{f, name}, nil
}

// commit gives it its name; what stood there before is replaced.
func (f *wholeFile) commit() error {
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.File.Name(), f.name)
}

// drop closes it, and removes it if it was not committed.
func (f *wholeFile) drop() {
	f.Close()
	os.Remove(f.File.Name())
}
