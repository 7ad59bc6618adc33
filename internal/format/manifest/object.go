package manifest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// The files of this package are JSON objects with long lists: a ledger may have hundreds of thousands of days.
// Package json holds the whole text several times. The functions below write and read the same text a field of a struct,
// or an element of a list, at a time.

// A field is a field of a struct that package json writes.
type field struct {
	name      string
	index     []int
	omitEmpty bool
	omitZero  bool
}

// fieldsOf returns the fields of a struct in their order.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" || !f.IsExported() || tag == "-" {
			continue
		}
		options := strings.Split(tag, ",")
		name := options[0]
		if name == "" {
			name = f.Name
		}
		out = append(out, field{name, f.Index, slices.Contains(options[1:], "omitempty"), slices.Contains(options[1:], "omitzero")})
	}
	return out
}

// omits reports whether v is not written.
func (f *field) omits(v reflect.Value) bool {
	if f.omitZero {
		if z, ok := v.Interface().(interface{ IsZero() bool }); ok && z.IsZero() || !ok && v.IsZero() {
			return true
		}
	}
	if !f.omitEmpty {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// byKind reports whether package json writes a type by its kind.
func byKind(t reflect.Type) bool {
	for _, t := range []reflect.Type{t, reflect.PointerTo(t)} {
		if t.Implements(marshaler) || t.Implements(textMarshaler) {
			return false
		}
	}
	return true
}

// isList reports whether values of a type are written an element at a time.
func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && byKind(t)
}

// isObject reports whether values of a type are written a field at a time.
func isObject(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && byKind(t.Elem())
}

// An objectWriter writes JSON. After an error it writes nothing.
type objectWriter struct {
	to     io.Writer
	indent string // of a level; "" writes no white space
	value  bytes.Buffer
	enc    *json.Encoder // into value
	err    error
}

// writeObject writes a struct, or the struct that v points to. If sum is not empty, it is the first field, with the name sha256. The
// text is the text of a json.Encoder that does not escape HTML, without the line end.
func writeObject(to io.Writer, v any, sum, indent string) error {
	w := &objectWriter{to: to, indent: indent}
	w.enc = json.NewEncoder(&w.value)
	w.enc.SetEscapeHTML(false) // people read conditions here
	w.object(reflect.Indirect(reflect.ValueOf(v)), sum, 0)
	return w.err
}

func (w *objectWriter) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

// line begins a line at a depth.
func (w *objectWriter) line(depth int) {
	if w.indent != "" {
		w.text("\n" + strings.Repeat(w.indent, depth))
	}
}

// name begins a field.
func (w *objectWriter) name(name string, first bool, depth int) {
	if !first {
		w.text(",")
	}
	w.line(depth)
	w.text(`"` + name + `":`)
	if w.indent != "" {
		w.text(" ")
	}
}

// object writes a struct.
func (w *objectWriter) object(v reflect.Value, sum string, depth int) {
	w.text("{")
	first := true
	if sum != "" {
		w.name("sha256", first, depth+1)
		w.text(`"` + sum + `"`)
		first = false
	}
	for _, f := range fieldsOf(v.Type()) {
		value := v.FieldByIndex(f.index)
		if f.omits(value) {
			continue
		}
		w.name(f.name, first, depth+1)
		w.any(value, depth+1)
		first = false
	}
	if !first {
		w.line(depth)
	}
	w.text("}")
}

// any writes a value of any type.
func (w *objectWriter) any(v reflect.Value, depth int) {
	switch {
	case isList(v.Type()) && v.Len() > 0:
		w.list(v, depth)
	case isObject(v.Type()) && !v.IsNil():
		w.object(v.Elem(), "", depth)
	default:
		w.whole(v, depth)
	}
}

// list writes a list that is not empty.
func (w *objectWriter) list(v reflect.Value, depth int) {
	between := "["
	for i := range v.Len() {
		w.text(between)
		w.line(depth + 1)
		w.whole(v.Index(i), depth+1)
		between = ","
	}
	w.line(depth)
	w.text("]")
}

// whole writes a value as package json does.
func (w *objectWriter) whole(v reflect.Value, depth int) {
	if w.err != nil {
		return
	}
	if v.CanAddr() {
		v = v.Addr() // its methods may have pointer receivers
	}
	w.value.Reset()
	if w.indent != "" {
		w.enc.SetIndent(strings.Repeat(w.indent, depth), w.indent)
	}
	if w.err = w.enc.Encode(v.Interface()); w.err == nil {
		_, w.err = w.to.Write(bytes.TrimSuffix(w.value.Bytes(), []byte("\n")))
	}
}

// errEnd is the error of a text that is cut short. Package json has the same words.
var errEnd = errors.New("unexpected end of JSON input")

// An objectReader reads JSON.
type objectReader struct {
	dec    *json.Decoder
	shared shared
}

// readObject reads JSON into the struct that v points to. It reads from up to its end. The field called raw gets no value: readObject
// returns its text.
func readObject(from io.Reader, v any, raw string) (text json.RawMessage, err error) {
	r := &objectReader{dec: json.NewDecoder(from)}
	if err = r.expect('{'); err == nil {
		text, err = r.object(reflect.ValueOf(v).Elem(), raw)
	}
	if err == nil {
		var more json.Token
		if more, err = r.dec.Token(); err == nil {
			err = fmt.Errorf("%v after the end of the object", more)
		} else if errors.Is(err, io.EOF) {
			return text, nil
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errEnd
	}
	return nil, err
}

// expect reads the beginning of an object or a list.
func (r *objectReader) expect(begin json.Delim) error {
	switch token, err := r.dec.Token(); {
	case err != nil:
		return err
	case token != begin:
		return fmt.Errorf("%v in place of %v", token, begin)
	}
	return nil
}

// object reads the fields and the end of an object.
func (r *objectReader) object(v reflect.Value, raw string) (text json.RawMessage, err error) {
	fields := fieldsOf(v.Type())
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		i := slices.IndexFunc(fields, func(f field) bool { return strings.EqualFold(f.name, name) })
		switch {
		case raw != "" && name == raw:
			err = r.dec.Decode(&text)
		case i < 0:
			err = r.dec.Decode(new(json.RawMessage))
		default:
			err = r.any(v.FieldByIndex(fields[i].index))
		}
		if err != nil {
			return nil, err
		}
	}
	_, err = r.dec.Token()
	return text, err
}

// any reads a value of any type.
func (r *objectReader) any(v reflect.Value) error {
	switch {
	case isList(v.Type()):
		return r.list(v)
	case isObject(v.Type()):
		return r.pointer(v)
	}
	return r.dec.Decode(v.Addr().Interface())
}

// pointer reads an object or null into a pointer to a struct.
func (r *objectReader) pointer(v reflect.Value) error {
	switch token, err := r.dec.Token(); {
	case err != nil:
		return err
	case token == nil:
		v.SetZero()
		return nil
	case token != json.Delim('{'):
		return fmt.Errorf("%v in place of an object", token)
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	_, err := r.object(v.Elem(), "")
	return err
}

// list reads a list or null.
func (r *objectReader) list(v reflect.Value) error {
	switch token, err := r.dec.Token(); {
	case err != nil:
		return err
	case token == nil:
		v.SetZero()
		return nil
	case token != json.Delim('['):
		return fmt.Errorf("%v in place of a list", token)
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for r.dec.More() {
		element := reflect.New(v.Type().Elem())
		if err := r.dec.Decode(element.Interface()); err != nil {
			return err
		}
		r.shared.element(element.Interface())
		v.Set(reflect.Append(v, element.Elem()))
	}
	_, err := r.dec.Token()
	return err
}
