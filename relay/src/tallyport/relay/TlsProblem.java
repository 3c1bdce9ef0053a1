package tallyport.relay;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.time.LocalDate;
import javax.net.ssl.SSLException;

/** Why no encrypted connection to the listing was made, in one sentence with Java's own words. */
final class TlsProblem {
    private static final String UNKNOWN = "it is self-signed, sent without its intermediate certificate, or of an unknown"
            + " authority: tell the listing's operator";

    private TlsProblem() {
    }

    static String of(SSLException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            String words = " (" + Printable.line(message, 200) + ")";
            if (cause instanceof CertificateExpiredException) {
                return "its certificate has expired" + words + ": tell the listing's operator; or this machine's clock ("
                        + LocalDate.now() + ") is fast: set it";
            }
            if (cause instanceof CertificateNotYetValidException) {
                return "this machine's clock (" + LocalDate.now() + ") is slow: set it; or the listing's certificate is not"
                        + " yet valid" + words + ": tell the listing's operator";
            }
            if (cause instanceof CertPathBuilderException) {
                return isJava8()
                        ? "Java " + System.getProperty("java.version") + " does not know the authority of its certificate"
                                + words + ": install the newest update of Java 8; or " + UNKNOWN
                        : "its certificate is not trusted" + words + ": " + UNKNOWN;
            }
            if (message.startsWith("No subject alternative") || message.startsWith("No name matching")) {
                return "its certificate is for another name" + words + ": is the address in server= right?";
            }
            if (message.contains("plaintext connection") || message.contains("unrecognized SSL message")) {
                return "what answers there does not speak HTTPS" + words + ": is the port in server= right?";
            }
        }
        return "no encrypted connection is made (" + Printable.line(String.valueOf(error.getMessage()), 200)
                + "): is the port in server= one for HTTPS?" + (isJava8() ? " Or install the newest update of Java 8" : "");
    }

    private static boolean isJava8() {
        return System.getProperty("java.version", "").startsWith("1.8.");
    }
}
