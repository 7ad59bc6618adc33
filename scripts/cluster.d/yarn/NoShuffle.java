import java.nio.ByteBuffer;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;

/**
 * Stands where MapReduce wants its shuffle, without which a NodeManager starts no map. Hadoop's own
 * listens on all addresses of the machine; jobs without reduces never call it.
 */
public class NoShuffle extends AuxiliaryService {
  public NoShuffle() {
    super("mapreduce_shuffle");
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext context) {}

  @Override
  public void stopApplication(ApplicationTerminationContext context) {}

  /** Port 0. */
  @Override
  public ByteBuffer getMetaData() {
    return ByteBuffer.allocate(Integer.BYTES);
  }
}
