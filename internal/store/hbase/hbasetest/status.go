package hbasetest

import "usertrail/internal/store/hbase/wire"

// clusterStatus executes "GetClusterStatus". It returns all parts at once.
func (x *execution) clusterStatus() ([]byte, *wire.ServerError) {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	var version, status, m message
	version.string(1, "2.6.0")
	status.bytes(1, version)
	status.bytes(7, x.c.master.name.Append(nil))
	for _, s := range x.c.servers {
		if s.dead {
			status.bytes(3, s.name.Append(nil))
		} else {
			status.bytes(11, s.name.Append(nil))
		}
	}
	for _, t := range x.c.tables {
		for _, r := range t.regions {
			if r.server != nil {
				continue
			}
			var specifier, state, transition message
			specifier.number(1, 1)
			specifier.string(2, r.name)
			state.bytes(1, r.info.Append(nil))
			state.number(2, 2)
			transition.bytes(1, specifier)
			transition.bytes(2, state)
			status.bytes(4, transition)
		}
	}
	m.bytes(1, status)
	return m, nil
}
