package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"proxyward/internal/operate"
	"proxyward/store"
)

// problem is an error as RFC 9457 writes it; its type is about:blank.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
}

func (p problem) Error() string { return p.Detail }

func trouble(status int, detail string) problem {
	return problem{status, http.StatusText(status), detail}
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(trouble(status, detail)) // who asked is gone if this fails
}

// fail answers with what went wrong.
func (s *Server) fail(w http.ResponseWriter, err error) {
	p := s.problemOf(err)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	refuse(w, p.Status, p.Detail)
}

func (s *Server) problemOf(err error) problem {
	var p problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, new(*http.MaxBytesError)):
		return trouble(http.StatusRequestEntityTooLarge, "the body is over 1 MiB: send several requests, or use filters")
	case errors.As(err, new(operate.None)):
		return trouble(http.StatusNotFound, err.Error())
	case errors.As(err, new(operate.Wrong)):
		return trouble(http.StatusBadRequest, err.Error())
	case errors.As(err, new(store.ErrNewer)):
		return trouble(http.StatusConflict, err.Error())
	}
	if words := s.Words(err); words != "" {
		return trouble(http.StatusServiceUnavailable, words)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return trouble(http.StatusServiceUnavailable, "it took too long: ask for less")
	}
	return trouble(http.StatusInternalServerError, err.Error())
}

// answer writes a value as JSON. <, > and & are escaped: what a proxy said is never markup.
func answer(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(b, '\n')) // who asked is gone if this fails
	return nil
}
