package checks

import "strconv"

// quote shows a stranger's first bytes. Secrets are masked before it cuts: half of one
// would not be found any more.
func (p *probe) quote(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	text := p.mask(string(b[:min(len(b), 512)]))
	return "it begins " + strconv.QuoteToASCII(text[:min(len(text), 24)])
}
