package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(large, []byte(strings.Repeat("x", 1025)), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(pipe, 1024); err != nil || len(b) != 0 {
		t.Errorf("a pipe to which nobody writes: %q, %v", b, err)
	}
	if _, err := Read(large, 1024); err == nil || !strings.Contains(err.Error(), "over 1 KiB") {
		t.Errorf("one byte too many: %v", err)
	}
	if b, err := Read(large, 1025); err != nil || len(b) != 1025 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := Read("/dev/zero", 1024); err == nil {
		t.Error("a file without an end was read")
	}
	if _, err := Read(filepath.Join(dir, "absent"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if testing.Short() {
		return
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // holds it open and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := Read(pipe, 1024); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a pipe that says nothing: %v", err)
	}
}
