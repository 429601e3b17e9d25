package configs

import (
	"os"

	"proxyward/internal/files"
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

func readSmall(path string) ([]byte, error) { return files.Read(path, maxSmall) }
