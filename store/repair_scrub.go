package store

import "proxyward/store/record"

const scrubbed = "(removed: it held the password)"

// scrub takes the password of the full URL out of a record: every text that holds it goes.
// It says whether the record as kept holds it.
func scrub(rec *record.Record, full, raw string) bool {
	if !leaks(full, raw) {
		return false
	}
	clean := func(s *string) {
		if leaks(full, *s) {
			*s = scrubbed
		}
	}
	for _, s := range []*string{&rec.Stage, &rec.Reason, &rec.Blame, &rec.Detail, &rec.Note} {
		clean(s)
	}
	for i := range rec.History {
		h := &rec.History[i]
		for _, s := range []*string{&h.Stage, &h.Reason, &h.Blame, &h.Detail, &h.Probe} {
			clean(s)
		}
	}
	for i := range rec.Sources {
		clean(&rec.Sources[i])
	}
	for class := range rec.Classes {
		if leaks(full, class) {
			delete(rec.Classes, class)
		}
	}
	return true
}
