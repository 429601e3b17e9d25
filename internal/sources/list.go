package sources

import (
	"io"

	"proxyward/checks/endpoint"
)

// List is what a list of proxies says, line by line. Every line that is not blank and not
// a comment stands in exactly one of the three.
type List struct {
	Accepted   []Accepted  `json:"accepted"`
	Rejected   []Rejected  `json:"rejected"`
	Duplicates []Duplicate `json:"duplicates"`
}

// Accepted is a line that names an endpoint for the first time.
type Accepted struct {
	Line     int               `json:"line"`
	Endpoint endpoint.Endpoint `json:"endpoint"`
}

// Rejected is a line that names no endpoint.
type Rejected struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"` // holds no part of the line
}

// Duplicate is a line that names an endpoint again. The first line counts, its password
// with it.
type Duplicate struct {
	Line     int               `json:"line"`
	Endpoint endpoint.Endpoint `json:"endpoint"`

	First         int  `json:"-"` // the line that was accepted
	OtherPassword bool `json:"-"` // this line has another password than the accepted one
}

// Parse reads one endpoint a line; defaultScheme is that of lines without one.
func Parse(r io.Reader, defaultScheme string) (List, error) { return List{}, nil }
