import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.StandardSocketFactory;

/**
 * Lets a DataNode's calls come from its own address. The NameNode takes a DataNode's address from
 * the connection that registers it, and on the loopback the kernel would choose 127.0.0.1 for all.
 */
public class BoundSocketFactory extends StandardSocketFactory implements Configurable {
  private Configuration conf;

  @Override
  public void setConf(Configuration conf) {
    this.conf = conf;
  }

  @Override
  public Configuration getConf() {
    return conf;
  }

  @Override
  public Socket createSocket() throws IOException {
    Socket socket = super.createSocket();
    socket.bind(new InetSocketAddress(InetAddress.getByName(conf.get("dfs.datanode.hostname")), 0));
    return socket;
  }
}
