import java.io.File;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kerby.kerberos.kerb.client.KrbClient;
import org.apache.kerby.kerberos.kerb.identity.KrbIdentity;
import org.apache.kerby.kerberos.kerb.keytab.Keytab;
import org.apache.kerby.kerberos.kerb.keytab.KeytabEntry;
import org.apache.kerby.kerberos.kerb.server.KdcConfigKey;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;
import org.apache.kerby.kerberos.kerb.type.base.PrincipalName;

/**
 * A Kerberos KDC: Kdc REALM HOST PORT DIR NAME=PRINCIPAL.. gives each principal a random key, and
 * writes it to DIR/NAME.keytab. For each principal without a host, DIR/NAME.ccache gets a ticket
 * for a day. When all is ready, DIR/ready exists. Another start with the same DIR has the same
 * keys, and accepts the tickets of the first one.
 */
public class Kdc {
  public static void main(String[] args) throws Exception {
    File dir = new File(args[3]);
    SimpleKdcServer kdc = new SimpleKdcServer();
    kdc.setWorkDir(dir);
    kdc.setKdcRealm(args[0]);
    kdc.setKdcHost(args[1]);
    kdc.setKdcTcpPort(Integer.parseInt(args[2]));
    kdc.setAllowUdp(false);
    kdc.getKdcConfig().setLong(KdcConfigKey.MAXIMUM_TICKET_LIFETIME, 86400L);
    kdc.getKdcConfig().setLong(KdcConfigKey.MAXIMUM_RENEWABLE_LIFETIME, 604800L);
    // Tests have tickets of a few seconds.
    kdc.getKdcConfig().setLong(KdcConfigKey.MINIMUM_TICKET_LIFETIME, 1L);
    kdc.getKdcConfig().setString(KdcConfigKey.ENCRYPTION_TYPES, "aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96");
    kdc.init();
    keep(kdc, "krbtgt/" + args[0] + "@" + args[0], new File(dir, "krbtgt.keytab"));
    Map<String, File> users = new LinkedHashMap<>();
    for (String word : Arrays.asList(args).subList(4, args.length)) {
      String[] part = word.split("=", 2);
      File keytab = new File(dir, part[0] + ".keytab");
      kdc.createPrincipal(part[1]);
      keep(kdc, part[1] + "@" + args[0], keytab);
      if (!part[1].contains("/")) {
        users.put(part[1], keytab);
      }
    }
    kdc.start();
    KrbClient client = kdc.getKrbClient();
    for (Map.Entry<String, File> user : users.entrySet()) {
      client.storeTicket(client.requestTgt(user.getKey(), user.getValue()), new File(dir, user.getKey() + ".ccache"));
    }
    if (!new File(dir, "ready").createNewFile()) {
      throw new IllegalStateException("the KDC is ready already");
    }
    Thread.currentThread().join();
  }

  /** Gives a principal the keys that it has in a keytab. Where it has none, its keys are added to the file. */
  private static void keep(SimpleKdcServer kdc, String principal, File keytab) throws Exception {
    List<KeytabEntry> kept = keytab.exists() ? Keytab.loadKeytab(keytab).getKeytabEntries(new PrincipalName(principal)) : null;
    if (kept == null || kept.isEmpty()) {
      kdc.exportPrincipal(principal, keytab);
      return;
    }
    KrbIdentity identity = kdc.getKadmin().getPrincipal(principal);
    for (KeytabEntry entry : kept) {
      identity.addKey(entry.getKey());
    }
    kdc.getIdentityService().updateIdentity(identity);
  }
}
