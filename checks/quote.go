package checks

import "strconv"

// quote shows a stranger's first bytes.
func quote(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return "it begins " + strconv.QuoteToASCII(string(b[:min(len(b), 24)]))
}
