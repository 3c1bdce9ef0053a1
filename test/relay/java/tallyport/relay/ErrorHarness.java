package tallyport.relay;

import java.io.File;

/** A relay in which an error without a stack trace is thrown once, when it has read its configuration. */
public final class ErrorHarness implements Log {
    private boolean thrown;

    private ErrorHarness() {
    }

    public static void main(String[] args) {
        new Relay(new Place(new File(Settings.FILE_NAME), "test", new File("").getAbsoluteFile()), new ErrorHarness()).run();
    }

    @Override
    public void info(String text) {
        if (!thrown) {
            thrown = true;
            Error error = new StackOverflowError();
            error.setStackTrace(new StackTraceElement[0]);
            throw error;
        }
        System.out.println(text);
    }

    @Override
    public void warn(String text) {
        System.out.println("! " + text);
    }
}
