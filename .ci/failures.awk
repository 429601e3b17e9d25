# Of `go test -v`: what each failed test said, and what a failed package said outside of one.
/^=== (RUN|CONT|NAME) / { test = top($3); next }
/^=== PAUSE / || /^ *--- (PASS|SKIP)/ { next }
/^--- FAIL/ { failed[$3] = 1; said[$3] = said[$3] $0 "\n"; next }
/^(ok|\?) *\t/ { begin(); next }
/^FAIL\t/ { for (t in said) if (t in failed || t == "") printf "%s", said[t]; print; begin(); next }
/^(PASS|FAIL)$/ { test = ""; next }
{ said[test] = said[test] $0 "\n" }
function top(name) { sub("/.*", "", name); return name }
function begin() { delete said; delete failed; test = "" }
