package wire

import "testing"

// TestTheInnermostCauseIsTold uses the trace of a failed snapshot, whose first line does not
// contain the cause.
func TestTheInnermostCauseIsTold(t *testing.T) {
	const class = "org.apache.hadoop.hbase.snapshot.HBaseSnapshotException"
	for trace, want := range map[string]string{
		class + ": it had an error\n\tat a.B(C.java:1)\nCaused by: x.Outer: not this\n\tat x.Y\n" +
			"Caused by: x.Foreign$Proxy via a,1,2:x.Foreign$Proxy: Unable to complete flush\n\tat x.Z\n\t... 3 more": "HBaseSnapshotException: it had an error: caused by Foreign$Proxy: Unable to complete flush",
		class + ": it had an error\nCaused by: x.Deep":                            "HBaseSnapshotException: it had an error: caused by Deep",
		class + ": E: told already\n\tat a.B\nCaused by: x.E: told already\n\tat": "HBaseSnapshotException: E: told already",
		class + ": alone\n\tat a.B(C.java:1)":                                     "HBaseSnapshotException: alone",
		class:                                                                     "HBaseSnapshotException",
	} {
		var e ServerError
		e.set(class, []byte(trace))
		if got := e.Error(); got != want {
			t.Errorf("%q reads %q, want %q", trace, got, want)
		}
	}
}
