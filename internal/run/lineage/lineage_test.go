package lineage_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"usertrail/internal/run/lineage"
	"usertrail/internal/run/lineage/lineagetest"
	"usertrail/internal/test/testkit"
)

var day = time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC)

func run() *lineage.Run {
	return &lineage.Run{
		ID: lineage.NewID(), Namespace: "nights", Job: "bulkload.load", Producer: "urn:usertrail:v1", From: day, To: day.AddDate(0, 0, 1),
		Parent: &lineage.Parent{Namespace: "airflow", Job: "nightly.load", RunID: lineage.NewID()},
	}
}

func datasets() (inputs, outputs []lineage.Dataset) {
	return []lineage.Dataset{lineage.Place("hdfs://nn:8020/logs")}, []lineage.Dataset{{
		Namespace: "hbase://zk:2181", Name: "stb:trails", Fields: []lineage.Field{{Name: "play.seconds", Type: "int64"}},
		Written: &lineage.Written{Rows: 7, Files: 2, Size: 1000},
	}}
}

// sent returns an event as a receiver decodes it.
func sent(t *testing.T, event map[string]any) map[string]any {
	t.Helper()
	b, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// at returns the member of an object at a path of names.
func at(t *testing.T, v any, names ...string) any {
	t.Helper()
	for _, name := range names {
		o, ok := v.(map[string]any)
		if !ok || o[name] == nil {
			t.Fatalf("there is no %s of %q in %v", name, names, v)
		}
		v = o[name]
	}
	return v
}

// checkEvent checks an event against the schemas of the specification.
func checkEvent(t *testing.T, e map[string]any) {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := lineagetest.Check(b); err != nil {
		t.Error(err)
	}
}

// TestOtherEventsAreRefused changes an event in ways that the specification does not allow.
func TestOtherEventsAreRefused(t *testing.T) {
	inputs, outputs := datasets()
	for what, change := range map[string]func(e map[string]any){
		"no time":            func(e map[string]any) { delete(e, "eventTime") },
		"no such time":       func(e map[string]any) { e["eventTime"] = "2014-09-02 02:00" },
		"an unknown type":    func(e map[string]any) { e["eventType"] = "ENDED" },
		"an unknown version": func(e map[string]any) { e["schemaURL"] = strings.Replace(e["schemaURL"].(string), "2-0-2", "9-0-0", 1) },
		"a run without UUID": func(e map[string]any) { at(t, e, "run").(map[string]any)["runId"] = "night" },
		"a job without name": func(e map[string]any) { delete(at(t, e, "job").(map[string]any), "name") },
		"a facet of another name": func(e map[string]any) {
			facets := at(t, e, "job", "facets").(map[string]any)
			facets["kind"] = facets["jobType"]
		},
		"a facet without producer": func(e map[string]any) { delete(at(t, e, "run", "facets", "nominalTime").(map[string]any), "_producer") },
		"a count that is a text": func(e map[string]any) {
			at(t, at(t, e, "outputs").([]any)[0], "outputFacets", "outputStatistics").(map[string]any)["rowCount"] = "7"
		},
	} {
		e := sent(t, run().Event(lineage.Complete, day, inputs, outputs, ""))
		checkEvent(t, e)
		change(e)
		if b, err := json.Marshal(e); err != nil || lineagetest.Check(b) == nil {
			t.Errorf("%s: the event is accepted (%v): %s", what, err, b)
		}
	}
}

func TestEventsAreAsSpecified(t *testing.T) {
	r := run()
	inputs, outputs := datasets()
	for _, kind := range []lineage.Type{lineage.Start, lineage.Complete, lineage.Fail, lineage.Abort} {
		e := sent(t, r.Event(kind, day.Add(26*time.Hour), inputs, outputs, "it broke"))
		checkEvent(t, e)
		for path, want := range map[string]any{
			"eventType": string(kind), "eventTime": "2014-09-02T02:00:00.000Z", "run/runId": r.ID, "job/name": "bulkload.load",
			"run/facets/nominalTime/nominalStartTime": "2014-09-01T00:00:00Z", "run/facets/nominalTime/nominalEndTime": "2014-09-02T00:00:00Z",
			"run/facets/errorMessage/message": "it broke", "run/facets/errorMessage/programmingLanguage": "Go",
			"run/facets/parent/run/runId": r.Parent.RunID, "run/facets/parent/job/name": "nightly.load",
			"job/facets/jobType/processingType": "BATCH", "job/facets/jobType/integration": "USERTRAIL",
		} {
			if got := at(t, e, strings.Split(path, "/")...); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		out := at(t, e, "outputs").([]any)[0]
		if rows := at(t, out, "outputFacets", "outputStatistics", "rowCount"); rows != 7.0 {
			t.Errorf("%v rows were written, want 7", rows)
		}
		if f := at(t, out, "facets", "schema", "fields").([]any)[0]; at(t, f, "name") != "play.seconds" || at(t, f, "type") != "int64" {
			t.Errorf("the field is %v", f)
		}
	}
	checkEvent(t, sent(t, (&lineage.Run{ID: lineage.NewID(), Namespace: "n", Job: "j", Producer: "urn:usertrail:v1"}).Event(lineage.Start, day, nil, nil, "")))
}

func TestPlacesHaveNames(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]lineage.Dataset{
		"hdfs://nn:8020/data/trails":        {Namespace: "hdfs://nn:8020", Name: "/data/trails"},
		"hbase://zk1,zk2:2181/stb:trails":   {Namespace: "hbase://zk1,zk2:2181", Name: "stb:trails"},
		"/srv/trails":                       {Namespace: "file", Name: "/srv/trails"},
		"trails":                            {Namespace: "file", Name: filepath.Join(wd, "trails")},
		"hbase://zk1:2181/hbase/stb:trails": {Namespace: "hbase://zk1:2181", Name: "hbase/stb:trails"},
	} {
		if got := lineage.Place(address); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", address, got, want)
		}
	}
}

func TestParentsAreRead(t *testing.T) {
	id := lineage.NewID()
	if p, ok := lineage.ParseParent("air/flow/dag.task/" + id); !ok || *p != (lineage.Parent{Namespace: "air/flow", Job: "dag.task", RunID: id}) {
		t.Errorf("read %v, %t", p, ok)
	}
	for _, text := range []string{"", id, "job/" + id, "a/b/c", "/job/" + id} {
		if p, ok := lineage.ParseParent(text); ok {
			t.Errorf("%q is the parent %v", text, p)
		}
	}
}

func send(t *testing.T, to string, events ...lineage.Type) []error {
	t.Helper()
	s, err := lineage.NewSender(to, "secret")
	if err != nil {
		t.Fatal(err)
	}
	lineage.SetPatience(s, time.Hour) // longer than any delay of a busy machine
	var errs []error
	for _, kind := range events {
		errs = append(errs, s.Send(t.Context(), run().Event(kind, day, nil, nil, "")))
	}
	return errs
}

func TestAFileTakesLinesOfManyRuns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events.jsonl")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, err := range send(t, name, lineage.Start, lineage.Complete) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var e map[string]any
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		checkEvent(t, e)
	}
	if n != 16 {
		t.Errorf("the file has %d lines, want 16", n)
	}
}

func TestAnAddressTakesEvents(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var e map[string]any
		if err := json.Unmarshal(b, &e); err != nil {
			t.Error(err)
		}
		got = append(got, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), e["eventType"].(string)}, " "))
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	for _, err := range append(send(t, server.URL, lineage.Start), send(t, server.URL+"/elsewhere", lineage.Complete)...) {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"POST /api/v1/lineage Bearer secret application/json START",
		"POST /elsewhere Bearer secret application/json COMPLETE",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the server got %q, want %q", got, want)
	}
}

func TestAnAddressThatDoesNotTakeThemIsAskedOnce(t *testing.T) {
	calls := 0
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		http.Error(w, "not today", http.StatusServiceUnavailable)
	}))
	defer refusing.Close()
	errs := send(t, refusing.URL, lineage.Start, lineage.Complete)
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "503 Service Unavailable: not today") || errs[1] != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, errs)
	}

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and never responds
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s, err := lineage.NewSender("http://"+silent.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if usual := lineage.SetPatience(s, time.Millisecond); usual <= 0 || usual > 10*time.Second {
		t.Errorf("a run waits %s for a server that is silent", usual)
	}
	if err := s.Send(t.Context(), run().Event(lineage.Start, day, nil, nil, "")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("of a server that is silent: %v", err)
	}
}

func TestWhatIsNoPlaceForEvents(t *testing.T) {
	for _, to := range []string{"ftp://host/x", "http://", "https:///x", "http://[::1"} {
		if _, err := lineage.NewSender(to, ""); err == nil {
			t.Errorf("%s is taken", to)
		}
	}
}

// TestAFileOfOthersTakesNoEvents names existing files that are not files of events.
func TestAFileOfOthersTakesNoEvents(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{
		"precious\n", "{\n \"version\": 1\n}\n", `{"version":1}`, "\n", `{"run":{"runId":"1"},"schemaURL":"https://example.org"}`, "\x00", "[]\n",
		"{", `{"eventTime":"2014-09-02T02:00:00.000Z"}`, `{"eventType":"STA`,
	} {
		testkit.WriteFile(t, name, text)
		if _, err := lineage.NewSender(name, ""); !errors.Is(err, lineage.ErrForeign) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want ErrForeign that names the file", text, err)
		}
	}
	testkit.WriteFile(t, name, "")
	for range 3 { // empty at first, then with events
		s, err := lineage.NewSender(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), run().Event(lineage.Start, day, nil, nil, "")); err != nil {
			t.Fatal(err)
		}
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readEvents returns how many lines of a file are events, and how many are not.
func readEvents(t *testing.T, name string) (events, others int) {
	t.Helper()
	for line := range strings.Lines(readText(t, name)) {
		var e map[string]any
		if json.Unmarshal([]byte(line), &e) == nil && e["eventType"] != nil {
			events++
		} else {
			others++
		}
	}
	return events, others
}

// TestACutLineCostsNoOther cuts the first or the last line of a file, as a killed run does. Later
// runs must accept the file, and their events must be readable.
func TestACutLineCostsNoOther(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events.jsonl")
	send(t, name, lineage.Start)
	whole := readText(t, name)
	for _, size := range []int{2, 5, 14, 20, 300, len(whole) - 1} {
		for before, text := range map[int]string{0: whole[:size], 2: whole + whole + whole[:size]} {
			testkit.WriteFile(t, name, text)
			for range 2 {
				for _, err := range send(t, name, lineage.Start, lineage.Complete) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			cut := 1
			if size == len(whole)-1 { // only the newline is missing
				cut = 0
			}
			if events, others := readEvents(t, name); events != before+4+1-cut || others != cut {
				t.Errorf("%d bytes after %d events: the file has %d events and %d other lines", size, before, events, others)
			}
		}
	}
}
