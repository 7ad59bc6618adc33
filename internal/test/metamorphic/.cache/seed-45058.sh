#!/usr/bin/env bash
# Both commands are on the $PATH, built by
#   go build -tags breakpoints -o DIR/ ./cmd/bulkload ./cmd/extract
# The script works in a new directory.
cd "$(mktemp -d)" && mkdir logs empty

# stopped STEP:N COMMAND...: runs a command until it stops itself at a step
stopped() {
	local step=$1; shift
	USERTRAIL_BREAKPOINT=$step "$@" & pid=$!
	until [[ $(ps -o state= -p $pid) != [RSD]* ]]; do sleep 0.01; done
}
# cut short and continued: what becomes of a command that has stopped
short() { kill -KILL $pid; wait $pid; }
thaw() { kill -CONT $pid; wait $pid; echo "# status $?"; }

mkdir -p docs/2014-09-01
cat > docs/2014-09-01/notes.parquet <<'END'
none
END
mkdir -p docs
cat > docs/thesis.txt <<'END'
ten years
END
mkdir -p lists
cat > lists/team.txt <<'END'
u1
u10
END
cat > photo.jpg <<'END'
jpg
END

# job

# mark
mkdir -p ready/2014-08-31
cat > ready/2014-08-31/playlist.done <<'END'
END
mkdir -p ready/2014-08-31
cat > ready/2014-08-31/play.done <<'END'
END
mkdir -p ready/2014-08-31
cat > ready/2014-08-31/login.done <<'END'
END
mkdir -p ready/2014-08-31
cat > ready/2014-08-31/order.done <<'END'
END
mkdir -p ready/2014-08-31
cat > 'ready/2014-08-31/play, 100% "live" \_.done' <<'END'
END
mkdir -p ready/2014-09-01
cat > ready/2014-09-01/playlist.done <<'END'
END
mkdir -p ready/2014-09-01
cat > ready/2014-09-01/play.done <<'END'
END
mkdir -p ready/2014-09-01
cat > ready/2014-09-01/login.done <<'END'
END
mkdir -p ready/2014-09-01
cat > ready/2014-09-01/order.done <<'END'
END
mkdir -p ready/2014-09-01
cat > 'ready/2014-09-01/play, 100% "live" \_.done' <<'END'
END
mkdir -p ready/2014-09-02
cat > ready/2014-09-02/playlist.done <<'END'
END
mkdir -p ready/2014-09-02
cat > ready/2014-09-02/play.done <<'END'
END
mkdir -p ready/2014-09-02
cat > ready/2014-09-02/login.done <<'END'
END
mkdir -p ready/2014-09-02
cat > ready/2014-09-02/order.done <<'END'
END
mkdir -p ready/2014-09-02
cat > 'ready/2014-09-02/play, 100% "live" \_.done' <<'END'
END
mkdir -p ready/2014-09-03
cat > ready/2014-09-03/playlist.done <<'END'
END
mkdir -p ready/2014-09-03
cat > ready/2014-09-03/play.done <<'END'
END
mkdir -p ready/2014-09-03
cat > ready/2014-09-03/login.done <<'END'
END
mkdir -p ready/2014-09-03
cat > ready/2014-09-03/order.done <<'END'
END
mkdir -p ready/2014-09-03
cat > 'ready/2014-09-03/play, 100% "live" \_.done' <<'END'
END
mkdir -p ready/2014-09-04
cat > ready/2014-09-04/playlist.done <<'END'
END
mkdir -p ready/2014-09-04
cat > ready/2014-09-04/play.done <<'END'
END
mkdir -p ready/2014-09-04
cat > ready/2014-09-04/login.done <<'END'
END
mkdir -p ready/2014-09-04
cat > ready/2014-09-04/order.done <<'END'
END
mkdir -p ready/2014-09-04
cat > 'ready/2014-09-04/play, 100% "live" \_.done' <<'END'
END

# deliver
mkdir -p logs
cat > logs/export.7.csv <<'END'
n2,at,device,n1,s1,d1,b1,who,event,s2
9223372036854775807,2014-09-03 13:45:00.001+05:45,,0,"a,b",3.25,,,order,"two
lines"
END

# load
cat > usertrail.yaml <<'END'
logs:
  path: logs/export.*
  format: csv
  zone: Asia/Shanghai
  max_bad: 100%
  ready: "ready/{date}/{behaviour}.done"
  behaviour: {column: event, others: skip, texts: {"pay": "order"}}
table: trails
layout: wide
user: who
time: at
behaviours:
  "playlist":
    id: 7
    fields:
      d1: double
      n2: int64
  "play":
    id: 1
  "login":
    id: 65535
    fields:
      s2: string
  "order":
    id: 300
    fields:
      s1: string
      b1: bool
END
bulkload --from 2014-09-04 --to 2014-09-04 --quiet --memory 64MiB
# status 0
extract --table trails --users all --from 0001-01-01 --to 9999-12-31 --types playlist,play,login,order --active any --format jsonl --out - --quiet --memory 128MiB
# status 0
bulkload verify --table trails --quiet --memory 64MiB
# status 0

# convert
bulkload convert --table trails --to hashed --out other --quiet --memory 64MiB
# status 0
extract --table other --users all --from 0001-01-01 --to 9999-12-31 --types playlist,play,login,order --active any --format jsonl --out - --quiet --memory 128MiB
# status 0
bulkload verify --table other --quiet --memory 64MiB
# status 0

# rename
mkdir -p logs
cat > logs/export.9.csv <<'END'
n2,at,device,n1,s1,d1,b1,who,event,s2
9223372036854775807,2014-09-03 13:45:00.001+05:45,,0,"a,b",3.25,,,order,"two
lines"
END
rm logs/export.7.csv

# growing
cat > usertrail.yaml <<'END'
logs:
  path: logs/export.*
  format: csv
  zone: Asia/Shanghai
  max_bad: 100%
  ready: "ready/{date}/{behaviour}.done"
  behaviour: {column: event, others: skip, texts: {"pay": "order"}}
table: other
layout: hashed
user: who
time: at
behaviours:
  "playlist":
    id: 7
    fields:
      d1: double
      n2: int64
  "play":
    id: 1
  "login":
    id: 65535
    fields:
      s2: string
  "order":
    id: 300
    fields:
      s1: string
      b1: bool
END
stopped begun:1 bulkload --from 2014-09-03 --to 2014-09-04 --quiet --memory 64MiB
mkdir -p logs
base64 -d > logs/export.10.csv.gz <<'END'
H4sIAAAJbogA/wBmAJn/YXQsd2hvLGV2ZW50LHMyLG4xLG4yLGRldmljZSxzMSxkMSxiMQoyMDE0LTA5LTAyIDE1OjQ1OjAwKzA1OjQ1LDF1LG9yZGVyLCJzYXkgIiJubyIiIiwsLDcxdSwsMC4xLHRydWUKAwCzKezNZgAAAA==
END
thaw
# status 0
extract --table other --users all --from 0001-01-01 --to 9999-12-31 --types playlist,play,login,order --active any --format jsonl --out - --quiet --memory 128MiB
# status 0
bulkload verify --table other --quiet --memory 64MiB
# status 0

# load
bulkload --from 2014-08-31 --to 2014-09-04 --quiet --memory 64MiB
# status 0
# wrong: load: read, loaded, quarantined, and duplicate or skipped are {2 1 1 0 0}, want {1 1 0 0 0}
