package cli

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"usertrail/internal/format/job"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/sasl"
)

// user is the user of secured clusters, for the whole process.
var user = secure.New(secure.Config{})

// Flags of a user, and the variables of the environment in their place.
const (
	keytabFlag         = "keytab"
	keytabVariable     = "USERTRAIL_KEYTAB"
	principalFlag      = "principal"
	principalVariable  = "USERTRAIL_PRINCIPAL"
	protectionFlag     = "protection"
	protectionVariable = "USERTRAIL_PROTECTION"
)

// credentials are the flags that determine the user of secured clusters.
type credentials struct {
	keytab, principal, protection string
}

func (w *credentials) add(c *cobra.Command) {
	p := c.PersistentFlags()
	p.StringVar(&w.keytab, keytabFlag, "", "file with the user's key, for clusters with Kerberos (default $"+keytabVariable+", else the ticket cache)")
	p.StringVar(&w.principal, principalFlag, "", "the user's principal (default $"+principalVariable+", else the only one of the keytab)")
	p.StringVar(&w.protection, protectionFlag, "", "least protection of every connection to HBase and HDFS: authentication, integrity or privacy (default $"+protectionVariable+", else the protection in Hadoop's configuration)")
}

// use makes the flags, or else the environment, the user of the process.
func (w *credentials) use() error {
	least, err := protectionOf(cmp.Or(w.protection, os.Getenv(protectionVariable)))
	if err != nil {
		from := "--" + protectionFlag
		if w.protection == "" {
			from = "$" + protectionVariable
		}
		return fmt.Errorf("%w: %s: %w", ErrUsage, from, err)
	}
	user.Change(func(cfg *secure.Config) {
		*cfg = secure.Config{Least: least}
		cfg.Kerberos.Keytab = cmp.Or(w.keytab, os.Getenv(keytabVariable))
		cfg.Kerberos.Principal = cmp.Or(w.principal, os.Getenv(principalVariable))
	})
	return nil
}

// useJob adds the settings of the job: keytab and principal if they are not set yet, and the
// protection if it is higher.
func useJob(j *job.Job) error {
	k := j.Kerberos
	if k == (job.Kerberos{}) {
		return nil
	}
	user.Change(func(cfg *secure.Config) {
		cfg.Kerberos.Keytab = cmp.Or(cfg.Kerberos.Keytab, k.Keytab)
		cfg.Kerberos.Principal = cmp.Or(cfg.Kerberos.Principal, k.Principal)
	})
	if err := Demand(k.Protection); err != nil {
		return fmt.Errorf("%w: %s: %w", job.ErrJob, j.Name, err)
	}
	return nil
}

// Demand sets the least protection that a job demands. A higher one stays. An empty name changes nothing.
func Demand(protection string) error {
	least, err := protectionOf(protection)
	if err != nil {
		return err
	}
	user.Change(func(cfg *secure.Config) { cfg.Least = max(cfg.Least, least) })
	return nil
}

func protectionOf(name string) (sasl.Protection, error) {
	if name == "" {
		return 0, nil
	}
	return sasl.ParseProtection(name)
}
