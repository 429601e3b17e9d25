package admin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// described is openapi.json, as far as the tests look at it.
type described struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*shape }
}

type operation struct {
	Summary    string
	Parameters []struct{ Name, In string }
	Responses  map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct{ Schema *shape }
	}
	RequestBody struct {
		Content map[string]struct{ Schema *shape }
	}
}

// shape is the part of JSON Schema that the description uses.
type shape struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Enum                 []string
	Properties           map[string]*shape
	Required             []string
	Items                *shape
	AdditionalProperties json.RawMessage
}

func description(t *testing.T, text string) described {
	t.Helper()
	var d described
	if err := json.Unmarshal([]byte(text), &d); err != nil || !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Fatal(d.OpenAPI, err)
	}
	return d
}

func TestEveryRouteIsDescribedAndEveryPathIsRouted(t *testing.T) {
	d := serve(t)
	doc := description(t, d.ask("GET", "/api/v1/openapi.json", "").body)
	var routed, told []string
	known := map[string]string{}
	for _, r := range d.routes() {
		routed = append(routed, r.method+" "+r.path)
		known[r.method+" "+r.path] = strings.ReplaceAll(strings.Join(r.asks, " "), several, "")
	}
	for path, operations := range doc.Paths {
		for method, o := range operations {
			told = append(told, strings.ToUpper(method)+" "+path)
			var asks []string
			for _, p := range o.Parameters {
				if p.In == "query" {
					asks = append(asks, p.Name)
				}
			}
			if takes := known[strings.ToUpper(method)+" "+path]; takes != strings.Join(asks, " ") {
				t.Errorf("%s %s takes %s, but %q are described", method, path, takes, asks)
			}
			inPath := strings.Contains(path, "{check}")
			if o.Summary == "" || inPath != (len(o.Parameters) > 0 && o.Parameters[0].Name == "check" && o.Parameters[0].In == "path") {
				t.Errorf("%s %s: summary %q, parameters %v", method, path, o.Summary, o.Parameters)
			}
		}
	}
	slices.Sort(routed)
	slices.Sort(told)
	if !slices.Equal(routed, told) {
		t.Errorf("routed\n%s\ndescribed\n%s", strings.Join(routed, "\n"), strings.Join(told, "\n"))
	}
}

func TestAnswersAreAsDescribed(t *testing.T) {
	d := serve(t)
	doc := description(t, string(openapi))
	ids := d.enroll(3)
	d.ask("POST", "/api/v1/checks/c/disable", `{"endpoints": ["`+ids[0]+`"], "note": "n", "for": "1h"}`)
	for route, c := range map[string]struct{ path, body string }{
		"GET /healthz":                         {"/healthz", ""},
		"GET /readyz":                          {"/readyz", ""},
		"GET /api/v1/status":                   {"/api/v1/status", ""},
		"GET /api/v1/checks":                   {"/api/v1/checks", ""},
		"GET /api/v1/checks/{check}":           {"/api/v1/checks/c", ""},
		"GET /api/v1/checks/{check}/endpoints": {"/api/v1/checks/c/endpoints?limit=1", ""},
		"GET /api/v1/checks/{check}/explain":   {"/api/v1/checks/c/explain?endpoint=" + ids[0], ""},
		"GET /api/v1/checks/{check}/guard":     {"/api/v1/checks/c/guard", ""},
		"GET /api/v1/checks/{check}/sources":   {"/api/v1/checks/c/sources", ""},
		"GET /api/v1/checks/{check}/events":    {"/api/v1/checks/c/events?limit=2", ""},
		"POST /api/v1/checks/{check}/recheck":  {"/api/v1/checks/c/recheck", `{"all": true}`},
		"POST /api/v1/checks/{check}/disable":  {"/api/v1/checks/c/disable", `{"endpoints": ["` + ids[1] + `"], "for": "1h"}`},
		"POST /api/v1/checks/{check}/enable":   {"/api/v1/checks/c/enable", `{"endpoints": ["` + ids[1] + `"]}`},
		"POST /api/v1/checks/{check}/forget":   {"/api/v1/checks/c/forget", `{"endpoints": ["` + ids[2] + `"]}`},
	} {
		method, path, _ := strings.Cut(route, " ")
		o := doc.Paths[path][strings.ToLower(method)]
		r := d.ask(method, c.path, c.body)
		var v any
		if err := json.Unmarshal([]byte(r.body), &v); err != nil || r.StatusCode != 200 {
			t.Fatalf("%s: %d %s", route, r.StatusCode, r.body)
		}
		for _, fault := range doc.faults(o.Responses["200"].Content["application/json"].Schema, v, route) {
			t.Error(fault)
		}
		if c.body != "" {
			var sent any
			json.Unmarshal([]byte(c.body), &sent)
			for _, fault := range doc.faults(o.RequestBody.Content["application/json"].Schema, sent, route+" body") {
				t.Error(fault)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, o := range doc.Paths[path] {
			for status, r := range o.Responses {
				if status != "200" && r.Ref != "#/components/responses/Problem" {
					t.Errorf("%s %s: %s is no problem", method, path, status)
				}
			}
		}
	}
}

// faults say where a value is not of a shape: a field that is not described counts as one.
func (d *described) faults(s *shape, v any, at string) (found []string) {
	if s == nil {
		return []string{at + ": not described"}
	}
	if name, is := strings.CutPrefix(s.Ref, "#/components/schemas/"); is {
		return d.faults(d.Components.Schemas[name], v, at)
	}
	kind := map[string]string{"object": "map[string]interface {}", "array": "[]interface {}", "string": "string", "boolean": "bool", "integer": "float64", "number": "float64"}[s.Type]
	if fmt.Sprintf("%T", v) != kind {
		return []string{fmt.Sprintf("%s is %v, no %s", at, v, s.Type)}
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			found = append(found, d.faults(s.Items, item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, has := v[name]; !has {
				found = append(found, at+"."+name+" is missing")
			}
		}
		for name, value := range v {
			inner := s.Properties[name]
			if inner == nil && len(s.AdditionalProperties) > 0 {
				inner = &shape{}
				json.Unmarshal(s.AdditionalProperties, inner)
			}
			found = append(found, d.faults(inner, value, at+"."+name)...)
		}
	case string:
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			found = append(found, at+": "+v+" is none of "+strings.Join(s.Enum, " "))
		}
	}
	return found
}
