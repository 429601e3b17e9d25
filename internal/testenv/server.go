package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a real redis-server that a test kills and starts again, at the same place and
// with what it kept on disk.
type Server struct {
	URL string

	t    testing.TB
	addr string
	dir  string
	args []string
	cmd  *exec.Cmd
	sink *os.File
}

// NewServer starts one; args are added to its command line.
func NewServer(t testing.TB, args ...string) *Server {
	t.Helper()
	path, port := Program(t, "redis-server"), Port(t)
	s := &Server{URL: fmt.Sprintf("redis://127.0.0.1:%d/0", port), t: t, addr: fmt.Sprintf("127.0.0.1:%d", port), dir: t.TempDir()}
	s.args = append([]string{path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "",
		"--appendonly", "no", "--maxmemory-policy", "noeviction", "--loglevel", "warning"}, args...)
	var err error
	if s.sink, err = os.Create(filepath.Join(t.TempDir(), "output")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			text, _ := os.ReadFile(s.sink.Name())
			t.Logf("%s said at the end:\n%s", path, text[max(0, len(text)-2000):])
		}
		s.sink.Close()
	})
	s.Start()
	return s
}

// Start begins it anew; it returns when somebody can connect.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = s.sink, s.sink
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	WaitTCP(s.t, s.addr)
}

// Kill ends it at once, as kill -9 does: what it had written is on disk.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.cmd = nil
}

// PowerCut ends it at once and takes what it had appended to its file in the last moments
// off it again, as much as was written there since the file had kept bytes: what appendfsync
// everysec may lose with the machine.
func (s *Server) PowerCut(kept int64) {
	s.t.Helper()
	s.Kill()
	file := s.appended()
	if file == "" {
		return
	}
	if info, err := os.Stat(file); err != nil || info.Size() < kept {
		return // written anew meanwhile, and whole
	}
	if err := os.Truncate(file, kept); err != nil {
		s.t.Fatal(err)
	}
}

// Appended is the size of the file that commands are appended to, in bytes.
func (s *Server) Appended() int64 {
	info, err := os.Stat(s.appended())
	if err != nil {
		return 0
	}
	return info.Size()
}

// appended is the file that commands are appended to.
func (s *Server) appended() string {
	files, _ := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	newest, at := "", time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(at) {
			newest, at = file, info.ModTime()
		}
	}
	return newest
}
