package configs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
)

const schemaFile = "proxyward.schema.json"

func TestSchemaFileIsTheTable(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaFile, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(Schema()) {
		t.Errorf("%s is not what the table of fields says: go test ./configs -update", schemaFile)
	}
}

func TestSchemaAgreesWithTheDecoder(t *testing.T) {
	good := []string{"proxyward.example.yaml", "minimal.yaml"}
	for _, file := range good {
		if faults := againstSchema(t, file); len(faults) > 0 {
			t.Errorf("%s does not fit the schema: %v", file, faults)
		}
	}
	for _, file := range []string{"many", "kinds", "policy", "word", "list"} {
		if len(againstSchema(t, filepath.Join("testdata/bad", file+".yaml"))) == 0 {
			t.Errorf("%s.yaml fits the schema", file)
		}
	}
}

func TestEveryFieldHasADescription(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	walk(root, "", func(path string, s map[string]any) {
		if path != "" && s["description"] == nil {
			t.Errorf("%s has no description", path)
		}
	})
}

func walk(s map[string]any, path string, visit func(string, map[string]any)) {
	visit(path, s)
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		walk(p.(map[string]any), join(path, name), visit)
	}
	if items, ok := s["items"].(map[string]any); ok {
		properties, _ := items["properties"].(map[string]any)
		for name, p := range properties {
			walk(p.(map[string]any), path+"[]."+name, visit)
		}
	}
}

func againstSchema(t *testing.T, file string) []string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.UnmarshalWithOptions(source, &value, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	var root map[string]any
	if json.Unmarshal(asJSON, &plain) != nil || json.Unmarshal(Schema(), &root) != nil {
		t.Fatal("not JSON")
	}
	v := validator{root}
	return v.faults(root, plain, "")
}

// validator knows as much of JSON schema as the table of fields uses.
type validator struct{ root map[string]any }

func (v validator) faults(s map[string]any, value any, path string) (out []string) {
	if _, ok := s["$ref"]; ok {
		return v.faults(v.root["$defs"].(map[string]any)["reference"].(map[string]any), value, path)
	}
	bad := func(why string) { out = append(out, fmt.Sprintf("%s: %s: %v", path, why, value)) }
	if kinds := words(s["type"]); kinds != nil && !slices.ContainsFunc(kinds, func(k string) bool { return is(value, k) }) {
		bad("type")
		return out
	}
	if any, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(any, func(o interface{}) bool {
		return len(v.faults(o.(map[string]interface{}), value, path)) == 0
	}) {
		bad("anyOf")
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, value) {
		bad("enum")
	}
	if c, ok := s["const"]; ok && c != value {
		bad("const")
	}
	switch value := value.(type) {
	case string:
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(value) {
			bad("pattern")
		}
	case float64:
		if m, ok := s["minimum"].(float64); ok && value < m {
			bad("minimum")
		}
		if m, ok := s["maximum"].(float64); ok && value > m {
			bad("maximum")
		}
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, item := range value {
			out = append(out, v.faults(items, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, item := range value {
			known, ok := properties[name].(map[string]any)
			if !ok {
				if known, ok = s["additionalProperties"].(map[string]any); !ok {
					bad("unknown " + name)
					continue
				}
			}
			out = append(out, v.faults(known, item, join(path, name))...)
		}
	}
	return out
}

func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, len(v))
		for i := range v {
			out[i] = v[i].(string)
		}
		return out
	}
	return nil
}

func is(value any, kind string) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null"
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	}
	return kind == "object"
}
