package plan

// Memory is what a pool takes in Redis, in bytes.
type Memory struct {
	New    int64 // every endpoint a candidate never probed
	Grown  int64 // every endpoint eligible, with a history of five transitions
	Full   int64 // every endpoint cooling after five failures, each with its sentence
	Jobs   int64 // where live jobs are counted: every endpoint with one, beside Grown
	Events int64 // the stream of the last 10,000 events, beside these
}

// What one endpoint takes in a redis-server: a part that does not depend on its id, and how
// often the id is kept. Measured with Redis 7.0.15 (jemalloc) on amd64: INFO memory before
// and after 10,000 endpoints with such a record were inserted with store.Pool.Amend, with
// ids of 26 and of 66 bytes, and the line through both:
//
//	record         26 B id  66 B id
//	New, 173 B       399      491
//	Grown, 987 B    1377     1517
//	Full, 1613 B    1994     2087
//	a password      +124     +225   (in urls: the id and a URL that is longer by 14 bytes)
//	counted        +133     +184   (in inflight)
//	a live job     +172     +214   (in jobs: a token, with the id)
//	the events      1.0 MB   2.3 MB
//
// 1,000 to 140,000 endpoints take within 5 % of that each, 1,000 that are counted up to 60 % more
// for it. TestMemory and TestMemoryOfJobs hold it.
const (
	newBytes, newIDs           = 342, 2.2
	grownBytes, grownIDs       = 1286, 3.5
	fullBytes, fullIDs         = 1934, 2.3
	passwordBytes, passwordIDs = 55, 2.5
	jobBytes, jobIDs           = 245, 2.4 // counted, with one live job
	eventsBytes                = 2_500_000
)

// usualID is the length of an id where none is known, in bytes: http://NAME.example:8080.
const usualID = 28

func (s Settings) memory() Memory {
	id := s.IDBytes
	if id == 0 {
		id = usualID
	}
	of := func(bytes, ids float64) int64 {
		return int64(float64(s.Endpoints) * (bytes + ids*id + s.Passwords*(passwordBytes+passwordIDs*id)))
	}
	m := Memory{New: of(newBytes, newIDs), Grown: of(grownBytes, grownIDs), Full: of(fullBytes, fullIDs), Events: eventsBytes}
	if s.Jobs {
		m.Jobs = int64(float64(s.Endpoints) * (jobBytes + jobIDs*id))
	}
	return m
}
