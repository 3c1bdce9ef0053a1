package tallyport.relay;

/** `--check` of the relay on a Java that calls itself an old Java 8. */
public final class Java8Harness {
    private Java8Harness() {
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("java.version", "1.8.0_101");
        Main.main(new String[] {"--check"});
    }
}
