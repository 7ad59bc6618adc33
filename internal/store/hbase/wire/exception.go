package wire

import (
	"bytes"
	"strconv"
	"strings"
)

// A ServerError is a Java exception in a server's response: to a call, to a region's part of a
// Multi, or to one action of it.
type ServerError struct {
	Class   string // org.apache.hadoop.hbase.NotServingRegionException
	Message string // the first line, without the class
	Cause   string // the innermost cause that the trace names: its class without the package, and its message

	// The region's new server in a RegionMovedException.
	Host string
	Port int

	// Only responses to a whole call have these two.
	DoNotRetry bool
	Overloaded bool
}

func (e *ServerError) Error() string {
	text := e.Name()
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Cause != "" && !strings.Contains(e.Message, e.Cause) {
		text += ": caused by " + e.Cause
	}
	return text
}

// Name returns the class without its package, by which errors are classified.
func (e *ServerError) Name() string {
	return e.Class[strings.LastIndexByte(e.Class, '.')+1:]
}

// maxMessage limits the part of a first line that is kept, in bytes.
const maxMessage = 2048

// set stores a class and a stack trace.
func (e *ServerError) set(class string, trace []byte) {
	e.Class = class
	line, _, _ := bytes.Cut(trace, []byte("\n"))
	message := string(line[:min(len(line), maxMessage)])
	message, _ = strings.CutPrefix(message, class)
	e.Message = strings.TrimSpace(strings.TrimPrefix(message, ":"))
	e.Cause = innermost(trace)
	if e.Host == "" && e.Name() == "RegionMovedException" {
		e.Host, e.Port = movedTo(e.Message)
	}
}

// innermost returns the last cause of a stack trace; empty if it names none.
func innermost(trace []byte) string {
	const by = "\nCaused by: "
	at := bytes.LastIndex(trace, []byte(by))
	if at < 0 {
		return ""
	}
	line, _, _ := bytes.Cut(trace[at+len(by):], []byte("\n"))
	class, message, told := strings.Cut(string(line[:min(len(line), maxMessage)]), ": ")
	class = class[strings.LastIndexByte(class, '.')+1:]
	if !told {
		return strings.TrimSpace(class)
	}
	return class + ": " + strings.TrimSpace(message)
}

// movedTo finds the target in "Region moved to: hostname=H port=P startCode=S. As of
// locationSeqNum=N.". A Multi's exceptions have only this text.
func movedTo(message string) (string, int) {
	var host string
	for word := range strings.FieldsSeq(message) {
		if h, ok := strings.CutPrefix(word, "hostname="); ok {
			host = h
		}
		if p, ok := strings.CutPrefix(word, "port="); ok {
			if port, err := strconv.ParseUint(p, 10, 16); err == nil && host != "" {
				return host, int(port)
			}
		}
	}
	return "", 0
}

// decodeResponse decodes an ExceptionResponse.
func (e *ServerError) decodeResponse(b []byte) error {
	var class string
	var trace []byte
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&class)
		case 2:
			d.bytes(&trace)
		case 3:
			d.string(&e.Host)
		case 4:
			d.count(&e.Port)
		case 5:
			d.bool(&e.DoNotRetry)
		case 6:
			d.bool(&e.Overloaded)
		}
	}
	e.set(class, trace)
	return d.done("ExceptionResponse")
}

// decodePair decodes the NameBytesPair of an exception in a Multi.
func (e *ServerError) decodePair(b []byte) error { return e.decodeNamed(b, "NameBytesPair") }

// decodeNamed decodes a message with a class in field 1 and a text in field 2. message is its name.
func (e *ServerError) decodeNamed(b []byte, message string) error {
	var class string
	var text []byte
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&class)
		case 2:
			d.bytes(&text)
		}
	}
	e.set(class, text)
	return d.done(message)
}

// decodeForeign decodes the ForeignExceptionMessage of a procedure.
func (e *ServerError) decodeForeign(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		if d.num == 2 {
			d.message(e.decodeGeneric)
		}
	}
	return d.done("ForeignExceptionMessage")
}

func (e *ServerError) decodeGeneric(b []byte) error {
	err := e.decodeNamed(b, "GenericExceptionMessage")
	if e.Class == "" {
		e.Class = "java.io.IOException"
	}
	return err
}
