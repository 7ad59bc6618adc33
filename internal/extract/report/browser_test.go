package report_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

// A browser is Debian's chromium without a window. The test controls it by its DevTools
// protocol over two pipes: JSON messages, each ended by a zero byte.
type browser struct {
	t       *testing.T
	cmd     *exec.Cmd
	to      *os.File
	from    *bufio.Reader
	number  int
	session string
	loaded  bool     // the page that was opened last has been loaded
	fetched []string // URLs that pages requested
}

// patience is the time limit of a browser for one whole test.
const patience = 10 * time.Minute

// newBrowser starts a browser that cannot resolve host names.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: run make browser", err)
	}
	toRead, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, fromWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	b.cmd = exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	b.cmd.ExtraFiles = []*os.File{toRead, fromWrite} // file descriptors 3 and 4
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toRead.Close()
	fromWrite.Close()
	late := time.AfterFunc(patience, func() { b.cmd.Process.Kill() })
	t.Cleanup(func() {
		to.Close() // the browser then ends
		late.Reset(10 * time.Second)
		defer late.Stop()
		b.cmd.Wait()
		from.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Page.enable", nil, nil)
	b.call("Network.enable", nil, nil)
	b.call("Log.enable", nil, nil)
	return b
}

// A message is received from a browser: a response or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// call sends a request to the browser and waits for the response, which it decodes into
// result.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.number++
	request := map[string]any{"id": b.number, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("chromium: %s: %v", method, err)
	}
	for {
		m := b.next(method)
		if m.ID != b.number {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("chromium: %s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("chromium: %s: %v", method, err)
			}
		}
		return
	}
}

// next reads a message, and records loaded pages, requested URLs and errors.
func (b *browser) next(waitingFor string) message {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium ended before it responded to %s: %v", waitingFor, err)
	}
	var m message
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatalf("chromium: %v", err)
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loaded = true
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		b.fetched = append(b.fetched, p.Request.URL)
	case "Log.entryAdded":
		var p struct{ Entry struct{ Level, Text string } }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		b.t.Errorf("the browser's log: %s: %s", p.Entry.Level, p.Entry.Text)
	}
	return m
}

// open shows a file in a window of the given size.
func (b *browser) open(file string, width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.loaded = false
	var went struct{ ErrorText string }
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, &went)
	if went.ErrorText != "" {
		b.t.Fatalf("chromium: open %s: %s", file, went.ErrorText)
	}
	for !b.loaded {
		b.next("Page.navigate")
	}
}

// eval decodes the value of a JavaScript expression into result.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	if e := got.ExceptionDetails; e != nil {
		b.t.Fatalf("chromium: %s: %s", e.Text, e.Exception.Description)
	}
	if err := json.Unmarshal(got.Result.Value, result); err != nil {
		b.t.Fatalf("chromium: %s: %v", got.Result.Value, err)
	}
}

// shoot saves a picture of the whole page among the test's artifacts.
func (b *browser) shoot(name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	b.keep(name, shot.Data)
}

// print prints the page on A4 and returns the file.
func (b *browser) print(name string) string {
	b.t.Helper()
	var printed struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"preferCSSPageSize": true, "printBackground": true}, &printed)
	return b.keep(name, printed.Data)
}

func (b *browser) keep(name, data string) string {
	b.t.Helper()
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(b.t.ArtifactDir(), name)
	testkit.WriteFile(b.t, file, string(raw))
	return file
}

// TestBrowserShowsThePage opens pages in a real browser, in the width of a desktop and of a
// telephone, and prints them.
func TestBrowserShowsThePage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for _, c := range []struct {
		name     string
		made     *made
		sections string
	}{
		{"evenings", evenings(), "asked users days lengths follows sequence samples"},
		{"year", busyYear(), "asked users days lengths follows samples"},
		{"nothing", nothing(), "asked users days lengths follows samples"},
	} {
		r := makeReport(t, c.made.write(t), 1)
		var page bytes.Buffer
		if err := r.HTML(&page); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.ArtifactDir(), c.name+".html")
		testkit.WriteFile(t, file, page.String())
		for _, width := range []int{1280, 390} {
			b.fetched = nil
			b.open(file, width, 900)
			b.shoot(fmt.Sprintf("%s-%d.png", c.name, width))
			b.check(fmt.Sprintf("%s at %d", c.name, width), width, c.sections)
			if len(b.fetched) != 1 || b.fetched[0] != "file://"+file {
				t.Errorf("%s at %d asked for %q", c.name, width, b.fetched)
			}
		}
		b.checkPrint(c.name, b.print(c.name+".pdf"))
	}
}

// looks holds what the page reports about its layout.
type looks struct {
	Width, Inner int
	Sections     string
	Wrong        []string
}

// check checks the layout of the open page.
func (b *browser) check(name string, width int, sections string) {
	b.t.Helper()
	script, err := os.ReadFile("testdata/look.js")
	if err != nil {
		b.t.Fatal(err)
	}
	var l looks
	b.eval(string(script), &l)
	if l.Width > width || l.Inner != width { // a telephone shrinks a page that is too wide
		b.t.Errorf("%s: the page is %d pixels wide, in a window of %d", name, l.Width, l.Inner)
	}
	if l.Sections != sections {
		b.t.Errorf("%s: the page has the sections %q, want %q", name, l.Sections, sections)
	}
	for _, w := range l.Wrong {
		b.t.Errorf("%s: %s", name, w)
	}
}

// checkPrint checks the text of the printed page.
func (b *browser) checkPrint(name, file string) {
	b.t.Helper()
	out, err := exec.CommandContext(b.t.Context(), "pdftotext", "-layout", file, "-").Output()
	if err != nil {
		b.t.Fatalf("pdftotext %s: %v: run make browser", file, err)
	}
	for _, want := range []string{"The query", "How many users", "How long trails are", "Which behaviour follows which", "sample trails"} {
		if !strings.Contains(strings.ToLower(string(out)), strings.ToLower(want)) {
			b.t.Errorf("%s printed does not say %q:\n%s", name, want, out)
		}
	}
}
