package job

import "usertrail/internal/store/dfs"

// A Kerberos has the keys under kerberos of a job: the user of secured clusters. The command
// line and the environment have precedence.
type Kerberos struct {
	Keytab     string // a local file; empty if the job has none
	Principal  string // empty if the job has none
	Protection string // the least of every connection; empty if the job demands none
}

// protections are the values of the key protection.
var protections = []string{"authentication", "integrity", "privacy"}

// readKerberos reads the keys under kerberos.
func (b *builder) readKerberos(v value) {
	if !v.given() {
		return
	}
	o, ok := v.object(kerberosLevel)
	if !ok {
		return
	}
	k := &b.job.Kerberos
	if s, ok := o.get("keytab").word(); ok {
		if k.Keytab = resolve(b.doc.folder(), s); dfs.Scheme(k.Keytab) != "" {
			o.get("keytab").wrong("%s is not a local file, and a keytab must be one", k.Keytab)
		}
	}
	k.Principal, _ = o.get("principal").word()
	if s, ok := o.get("protection").oneOf("protection", protections); ok {
		k.Protection = s
	}
}
