package configs

import (
	"fmt"
	"io"
	"os"
)

// Env is where references in a configuration are looked up.
type Env struct {
	Lookup   func(name string) (string, bool)  // environment variables, CREDENTIALS_DIRECTORY among them
	ReadFile func(path string) ([]byte, error) // credentials, password files, CA files
}

// OSEnv is the environment and the files of the process.
func OSEnv() Env { return Env{Lookup: os.LookupEnv, ReadFile: readSmall} }

// maxSmall is the size that a credential or a CA file may have.
const maxSmall = 1 << 20

func readSmall(path string) ([]byte, error) { return readAtMost(path, maxSmall) }

func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
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
