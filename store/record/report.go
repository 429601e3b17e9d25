package record

// LongestReport is how many bytes of one field of a report are read.
const LongestReport = 4096

// Report is what a worker wrote into the stream about one endpoint, as it stands there:
// nothing in it is checked. A field longer than LongestReport is cut one byte after it.
type Report struct {
	Entry string // id of the stream's entry
	AtMs  int64  // pool time at which it was written
	Size  int    // bytes of the whole entry, names and values

	Endpoint, Outcome, Stage, Reason, Worker string
	WorkerMs                                 string // at_ms: the worker's own clock
}
