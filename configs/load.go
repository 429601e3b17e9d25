package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"proxyward/internal/files"
)

// DefaultRedis is where pools are kept without a configuration file.
const DefaultRedis = "embedded://127.0.0.1:6399"

// Load reads and validates the file at path, with the process's environment and files.
// What is wrong inside the file is a *Faults; that it cannot be read is another error.
func Load(path string) (*Config, error) {
	f, err := files.Open(path)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = ": name another with --config, or run without a file: --list FILE --target URL"
		}
		return nil, fmt.Errorf("read configuration: %w%s", err, hint)
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, maxFile+4))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, source, OSEnv())
}

// Parse validates yaml; name stands for the file in messages. Everything that is wrong is
// told at once, in a *Faults.
func Parse(name string, yaml []byte, env Env) (*Config, error) {
	d := newDecoder(name, env)
	root := read(yaml, d.faultList)
	if root == nil {
		return nil, d.err()
	}
	f := fileDefaults()
	fileFields(&f).read(d, root, "")
	if root.kind != mapKind || d.left < 0 {
		return nil, d.err()
	}
	c := d.build(&f)
	if err := d.err(); err != nil {
		return nil, err
	}
	c.Warnings, c.picture = d.warnings(&f), draw(&f)
	return c, nil
}

// Default is the configuration of `run --list FILE --target URL` without a file: one check
// named default, on the embedded Redis.
func Default(list, target string) (*Config, error) {
	d := newDecoder("", OSEnv())
	f, c := fileDefaults(), checkDefaults()
	f.redis.url = plain(DefaultRedis)
	source := sourceDefaults()
	source.File = plain(list)
	c.Name, c.Request.URL, c.Endpoints = plain("default"), plain(target), []sourceFile{source}
	f.checks = []checkFile{c}
	config := d.build(&f)
	config.picture = draw(&f)
	for i := range d.list {
		if flag, ok := flags[d.list[i].Path]; ok {
			d.list[i].Path = flag
		}
	}
	return config, d.err()
}

// flags are the names by which Default's caller knows its fields.
var flags = map[string]string{"checks[0].request.url": "--target", "checks[0].endpoints[0].file": "--list"}
