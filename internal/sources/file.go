package sources

import "context"

// File is a list in a file.
type File struct {
	Path   string
	Scheme string // of lines that name none
}

// Name is what records call the source.
func (f File) Name() string { return Name(f.Path) }

// Read parses the file. same is true, and the list empty, when it is the version that
// applied names.
func (f File) Read(_ context.Context, applied string) (l List, digest string, same bool, err error) {
	digest, err = Digest(f.Path, f.Scheme)
	if err == nil && digest == applied {
		return List{}, digest, true, nil
	}
	l, err = Read(f.Path, f.Scheme) // its errors say how to mend what Digest met
	return l, digest, false, err
}
