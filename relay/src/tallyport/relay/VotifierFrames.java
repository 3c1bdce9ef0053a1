package tallyport.relay;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The one message of Votifier v1 and of v2, the same as when the listing sends votes itself. */
final class VotifierFrames {
    /** The padding takes 11 of the 256 bytes of a block. */
    private static final int LONGEST_V1 = 245;
    /** NuVotifier discards a longer frame, header included. */
    private static final int LONGEST_V2 = 1_024;
    private static final int MAGIC = 0x733A;
    /** Votifier wants an address; the voter's is not known here. */
    private static final String VOTER_ADDRESS = "0.0.0.0";

    private VotifierFrames() {
    }

    /** @return null if the vote is too long for Votifier v1 */
    static byte[] v1(Delivery vote, PublicKey key) throws GeneralSecurityException {
        String text = "VOTE\n" + vote.serviceName + "\n" + vote.username + "\n" + VOTER_ADDRESS + "\n"
                + vote.votedAt + "\n";
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > LONGEST_V1) {
            return null;
        }
        Cipher cipher = Cipher.getInstance("RSA/ECB/PKCS1Padding");
        cipher.init(Cipher.ENCRYPT_MODE, key);
        byte[] block;
        do {
            // If the block begins like a v2 frame, a plugin that speaks both takes it for one. The padding is random.
            block = cipher.doFinal(bytes);
        } while (ByteBuffer.wrap(block).getChar() == MAGIC);
        return block;
    }

    /** @return null if the vote is too long for NuVotifier */
    static byte[] v2(Delivery vote, String token, String challenge) throws GeneralSecurityException {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("serviceName", vote.serviceName);
        fields.put("username", vote.username);
        fields.put("address", VOTER_ADDRESS);
        fields.put("timestamp", vote.votedAt);
        fields.put("challenge", challenge);
        fields.put("uuid", vote.voteId);
        String payload = Json.write(fields);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(token.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] signature = mac.doFinal(payload.getBytes(StandardCharsets.UTF_8));
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("payload", payload);
        message.put("signature", Base64.getEncoder().encodeToString(signature));
        byte[] json = Json.write(message).getBytes(StandardCharsets.UTF_8);
        if (json.length + 4 > LONGEST_V2) {
            return null;
        }
        return ByteBuffer.allocate(json.length + 4).putChar((char) MAGIC).putChar((char) json.length).put(json).array();
    }
}
