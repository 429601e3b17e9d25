package configs

import (
	"bytes"
	"encoding/json"
)

// schema is a JSON schema, or a part of one.
type schema map[string]any

// reference is what may stand in place of any value.
var reference = schema{"type": "string", "pattern": `\$\{(env|file):[^}]+\}`}

func pattern(p string) schema { return schema{"type": "string", "pattern": p} }

// Schema is the JSON schema (draft 2020-12) of the configuration file, made from the
// table of fields.
func Schema() []byte {
	f := fileDefaults()
	s := fileFields(&f).schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "proxyward configuration"
	s["required"] = []string{"checks"}
	s["$defs"] = schema{"reference": reference}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil { // maps, strings and numbers only
		panic(err)
	}
	return b.Bytes()
}

// orReference allows a reference in place of the value.
func orReference(s schema) schema {
	return schema{"anyOf": []schema{s, {"$ref": "#/$defs/reference"}}}
}

func (o object) schema() schema {
	properties := schema{}
	for _, f := range o {
		s := f.to.schema()
		if f.doc != "" {
			s["description"] = f.doc
		}
		properties[f.name] = s
	}
	return schema{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}

func (l list[T]) schema() schema {
	item := l.fresh()
	return schema{"type": []string{"array", "null"}, "items": l.fields(&item).schema()}
}

func (m dict[T]) schema() schema {
	var v T
	return schema{"type": []string{"object", "null"}, "additionalProperties": m.fields(&v).schema()}
}

func (f scalar[T]) schema() schema {
	s := orReference(f.is())
	var shown any = *f.to
	if f.shown != nil {
		shown = f.shown(*f.to)
	}
	if shown != "" && shown != "0s" && shown != nil {
		s["default"] = shown
	}
	return s
}

func (f optional[T]) schema() schema {
	s := f.of(new(T)).schema()
	delete(s, "default")
	return s
}

func (f free) schema() schema {
	s := schema{"type": []string{"string", "number", "boolean"}}
	if f.to.written != "" {
		s["default"] = f.to.written
	}
	return s
}

func (f hidden) schema() schema { return schema{"type": []string{"string", "number", "boolean"}} }

func (f texts) schema() schema {
	return schema{"type": []string{"array", "null"}, "items": schema{"type": []string{"string", "number", "boolean"}}}
}

func (f statuses) schema() schema {
	status := schema{"type": "integer", "minimum": 200, "maximum": 599}
	return schema{"type": []string{"array", "null"}, "items": orReference(schema{"anyOf": []schema{status, pattern(`^[2-5][0-9][0-9]( *- *[2-5][0-9][0-9])?$`)}})}
}
