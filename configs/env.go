package configs

import "os"

// Env is where references in a configuration are looked up.
type Env struct {
	Lookup   func(name string) (string, bool)  // environment variables, CREDENTIALS_DIRECTORY among them
	ReadFile func(path string) ([]byte, error) // credentials, password files, CA files
}

// OSEnv is the environment and the files of the process.
func OSEnv() Env { return Env{Lookup: os.LookupEnv, ReadFile: readBounded} }
func readBounded(path string) ([]byte, error) { return os.ReadFile(path) }
