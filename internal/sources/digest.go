package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
)

// Digest names one version of the list at path without reading it: the same as long as
// the file is not written or replaced. It is made from the file's identity and times, not
// from its content, so that it gives no password away.
func Digest(path, defaultScheme string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("look at list: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", path, defaultScheme, info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:8]), nil
}
