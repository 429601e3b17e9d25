package checks

import (
	"context"
	"errors"
	"net/netip"

	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// Check is a compiled Spec: immutable, and safe for any number of probes at once.
type Check struct {
	spec Spec
}

// Compile validates a spec and prepares everything that does not change from probe to
// probe. Every fault is reported, joined, each as a *FieldError.
func Compile(spec Spec) (*Check, error) {
	if len(spec.Steps) == 0 {
		return nil, &FieldError{Field: "steps", Msg: "no step: write a request"}
	}
	return &Check{spec: spec}, nil
}

// FieldError is one fault of a Spec.
type FieldError struct {
	Field string // path inside the check, as in YAML: request.url, steps[1].expect.status
	Msg   string // what is wrong and what would be right
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Msg }

// AddressGuard refuses an address that is about to be dialled by returning an error.
type AddressGuard func(netip.Addr) error

// RunOptions changes how one probe is run. The zero value is the ordinary probe.
type RunOptions struct {
	Guard AddressGuard // asked for the address really dialled; nil: every address is allowed
}

// Run is one probe: one whole transaction of the check through one endpoint. It returns
// within the check's timeout whatever the peers do, with every descriptor closed.
func (c *Check) Run(ctx context.Context, ep endpoint.Endpoint, opts RunOptions) verdict.Verdict {
	err := errors.Join(ctx.Err(), errors.New("not built yet"))
	return verdict.Verdict{Stage: verdict.Resolve, Reason: verdict.LocalError, Blame: verdict.Local, Detail: err.Error()}
}
