package testenv

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// clockCode is machine code for amd64, in three parts. It takes the place of the body of
// clock_gettime; the other two functions jump into it. After the parts comes a table: the
// seconds to add to the wall clock, then those to add to the monotonic clock.
var clockCode = []struct {
	name string
	at   int64 // from the beginning of clock_gettime
	code []byte
}{
	{"__vdso_clock_gettime", 0, []byte{ // (clock, time)
		0xb8, 0xe4, 0, 0, 0, 0x0f, 0x05, // eax = 228; syscall
		0x83, 0xff, 0x01, 0x77, 0x10, // neither the wall clock (0) nor the monotonic one (1): return
		0x89, 0xf9, 0x48, 0x8d, 0x15, 0x5b, 0, 0, 0, // ecx = clock; rdx = table
		0x48, 0x8b, 0x0c, 0xca, 0x48, 0x01, 0x0e, // time.seconds += table[clock]
		0xc3, // return
	}},
	{"__vdso_gettimeofday", 48, []byte{ // (time, zone)
		0xb8, 0x60, 0, 0, 0, 0x0f, 0x05, // eax = 96; syscall
		0x48, 0x85, 0xff, 0x74, 0x0a, // no place for the time: return
		0x48, 0x8b, 0x0d, 0x2d, 0, 0, 0, 0x48, 0x01, 0x0f, // time.seconds += table[0]
		0xc3, // return
	}},
	{"__vdso_time", 80, []byte{ // (seconds)
		0xb8, 0xc9, 0, 0, 0, 0x0f, 0x05, // eax = 201; syscall
		0x48, 0x03, 0x05, 0x12, 0, 0, 0, // rax += table[0]
		0x48, 0x85, 0xff, 0x74, 0x03, 0x48, 0x89, 0x07, // if there is a place for it: seconds = rax
		0xc3, // return
	}},
}

const (
	clockTable  = 112 // where the table is, from the beginning of clock_gettime
	clockLength = 128 // the table included
	auxvSysinfo = 33  // AT_SYSINFO_EHDR of getauxval(3)
)

// patch puts clockCode into a process that does not run and says where its table is.
func patch(pid int, mem *os.File) (table int64, err error) {
	base, err := vdso(pid)
	if err != nil {
		return 0, err
	}
	image := make([]byte, 16<<10)
	n, _ := mem.ReadAt(image, base) // up to its end, which comes sooner
	file, err := elf.NewFile(bytes.NewReader(image[:n]))
	if err != nil {
		return 0, fmt.Errorf("read the vdso: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, fmt.Errorf("read the vdso: %w", err)
	}
	places := map[string]elf.Symbol{}
	for _, s := range symbols {
		places[s.Name] = s
	}
	body := places[clockCode[0].name]
	if body.Size < clockLength {
		return 0, fmt.Errorf("the vdso's %s has %d bytes: there is no room", clockCode[0].name, body.Size)
	}
	put := func(b []byte, at int64) { // the first error stays
		if err == nil {
			_, err = mem.WriteAt(b, base+at)
		}
	}
	to := int64(body.Value)
	put(make([]byte, clockLength), to)
	for _, part := range clockCode {
		put(part.code, to+part.at)
		if from := int64(places[part.name].Value); from != 0 && part.at > 0 {
			const jump, length = 0xe9, 5
			put(binary.LittleEndian.AppendUint32([]byte{jump}, uint32(to+part.at-from-length)), from)
		}
	}
	return base + to + clockTable, err
}

// vdso is where the kernel mapped its code into a process.
func vdso(pid int) (base int64, err error) {
	vector, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return 0, err
	}
	for ; len(vector) >= 16; vector = vector[16:] {
		if binary.LittleEndian.Uint64(vector) == auxvSysinfo {
			return int64(binary.LittleEndian.Uint64(vector[8:])), nil
		}
	}
	return 0, errors.New("it has no vdso")
}
