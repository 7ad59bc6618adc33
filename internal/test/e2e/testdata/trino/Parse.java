import io.trino.sql.parser.SqlParser;
import java.nio.file.Files;
import java.nio.file.Path;

/** Parses each statement of a file and prints its kind. */
class Parse {
    public static void main(String[] args) throws Exception {
        for (String statement : Files.readString(Path.of(args[0])).split(";\n")) {
            System.out.println(new SqlParser().createStatement(statement).getClass().getSimpleName());
        }
    }
}
