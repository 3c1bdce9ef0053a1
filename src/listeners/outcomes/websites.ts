import { explanation } from '../explanation.ts';
import type { OutcomeDefinition } from './outcome-definition.ts';

export const WEBSITE_OUTCOMES = {
  'http-unavailable': {
    class: 'transient',
    fault: 'http-server',
    text: explanation(
      'The website answered that it cannot take votes now (HTTP 5xx or 408); the vote may have arrived all the same.',
      'Look into the log of the website or application that takes the votes.',
    ),
  },
  'http-limited': {
    class: 'transient',
    fault: 'http-server',
    text: explanation(
      'The website takes no more requests for now (HTTP 429, or 503 with Retry-After); the vote may have arrived all the same.',
      'Raise the limit of the website, or of the proxy or filter in front of it, for this URL; if it is down for maintenance, wait until it is back.',
    ),
  },
  'http-not-ready': {
    class: 'transient',
    fault: 'http-server',
    text: explanation(
      'The website answered a challenge that it cannot take votes now (HTTP 5xx or 408), or did not answer it; it has not taken the vote.',
      'Look into the log of the website or application that takes the votes.',
    ),
  },
  'challenge-limited': {
    class: 'transient',
    fault: 'http-server',
    text: explanation(
      'The website takes no more requests for now (HTTP 429, or 503 with Retry-After), and it got a challenge; no vote was posted.',
      'Raise the limit of the website, or of the proxy or filter in front of it, for this URL; if it is down for maintenance, wait until it is back.',
    ),
  },
  'http-upgraded': {
    class: 'ambiguous',
    fault: 'garbage-answer',
    step: 'acknowledgement',
    text: explanation(
      'The website answered that it changes the protocol (HTTP 101), which no vote asks for; the vote may have arrived all the same.',
      'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.',
    ),
  },
  'http-headers-too-long': {
    class: 'ambiguous',
    fault: 'garbage-answer',
    step: 'acknowledgement',
    text: explanation(
      'The headers of the website’s answer are longer than 16 KiB, so it could not be read; the vote may have arrived all the same.',
      'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.',
    ),
  },
  'not-http': {
    class: 'configuration',
    fault: 'other-protocol',
    step: 'greeting',
    text: explanation(
      'Something that does not speak HTTP answers at this address and port.',
      'Check the port in the URL: it is the website’s, not the game’s and not Votifier’s.',
    ),
  },
  'tls-failed': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The URL begins with https://, and what answers there does not speak TLS.',
      'Check the port in the URL, enable HTTPS at the website, or begin the URL with http:// if it has none.',
    ),
  },
  'tls-too-old': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The website speaks only TLS 1.1 or older, which is not safe any more.',
      'Enable TLS 1.2 or 1.3 at the website or at the proxy in front of it.',
    ),
  },
  'tls-expected': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The URL begins with http://, and what answers there speaks TLS; nothing of the vote was read.',
      'Begin the URL with https://.',
    ),
  },
  'certificate-refused': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The certificate of the website is not valid.',
      'Let a public authority issue a new certificate, and install it with its intermediate certificates.',
    ),
  },
  'certificate-other-name': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The certificate of the website is for another name than the host in the URL.',
      'Set the URL to the name in the certificate, which a browser shows at the lock, or let the website show a certificate for the host in the URL.',
    ),
  },
  'certificate-expired': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The certificate of the website has expired.',
      'Renew the certificate, and restart the website so that it shows the new one.',
    ),
  },
  'certificate-not-yet-valid': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The certificate of the website is not valid yet.',
      'Wait until its first day, or install the certificate that is valid now; check the clock of the machine that made it.',
    ),
  },
  'certificate-self-signed': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The certificate of the website is self-signed, or signed by an authority of its own.',
      'Install a certificate of a public authority, such as Let’s Encrypt; a self-signed one is not accepted.',
    ),
  },
  'certificate-incomplete': {
    class: 'configuration',
    fault: 'tls-server',
    step: 'greeting',
    text: explanation(
      'The chain of the website’s certificate is incomplete: its intermediate certificates are not sent, or they lead to no public authority.',
      'Let the website send the intermediate certificates too (often a file called fullchain.pem); if its authority is not a public one, install a certificate of one, such as Let’s Encrypt.',
    ),
  },
  'http-redirected': {
    class: 'configuration',
    fault: 'http-server',
    text: explanation(
      'The URL answers with a redirect, and votes do not follow redirects.',
      'Open the URL in a browser to see where the redirect leads, and set the listener to that URL; mostly https://, www. or a slash at the end is missing.',
    ),
  },
  'http-sign-in': {
    class: 'configuration',
    fault: 'http-server',
    text: explanation(
      'The URL redirects to a page to sign in, so it wants a session, which votes do not have.',
      'Let the URL need no session: exempt it from the sign-in, and check the signature of each message instead.',
    ),
  },
  'http-forbidden': {
    class: 'configuration',
    mayBeOfOneVote: true,
    fault: 'bad-signature',
    step: 'key-or-token',
    text: explanation(
      'The website refuses the request (HTTP 401 or 403): it does not accept our signature, or a filter blocks it.',
      'Compare the secret there with the listener’s, make a new one if in doubt, and let the filter pass this URL.',
    ),
  },
  'http-not-found': {
    class: 'configuration',
    mayBeOfOneVote: true,
    fault: 'http-server',
    text: explanation(
      'There is nothing at this URL (HTTP 404 or 410).',
      'Check the path of the URL, and that the application which takes the votes is installed there.',
    ),
  },
  'http-method-refused': {
    class: 'configuration',
    mayBeOfOneVote: true,
    fault: 'http-server',
    text: explanation(
      'This URL takes no POST requests (HTTP 405 or 501), and votes are posted.',
      'Check the path of the URL, and that the application there takes POST requests; then send a test vote, and resume the listener if it is paused.',
    ),
  },
  'http-votes-refused': {
    class: 'configuration',
    fault: 'vote-refused',
    step: 'acknowledgement',
    text: explanation(
      'The website refuses votes: it has acknowledged none with its current settings, or a new challenge failed after it refused one; other votes wait.',
      'Look into the website’s log for the reason, correct it, send a test vote, and resume the listener if it is paused.',
    ),
  },
  'http-unverified': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website answered a signed challenge and did not repeat it, so it may not want votes; none was posted.',
      'Check that the URL leads to the program that takes the votes, and let it answer a message of the type listener.challenge with its challenge, as the example on the listener’s page shows; then send a test vote, and resume the listener if it is paused.',
    ),
  },
  'http-challenge-refused': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website refused the challenge; no vote was posted.',
      'Let the program that takes the votes accept a message of the type listener.challenge and answer it with its challenge, as the example on the listener’s page shows; look into the website’s log for the reason of its status.',
    ),
  },
  'challenge-surrounded': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website’s answer holds the challenge, but beside other text, such as a notice of PHP, a page around it or our whole message; no vote was posted.',
      'Answer with the challenge alone, or with a JSON object whose key “challenge” is the challenge, and nothing before, after or around it: switch off the output of notices.',
    ),
  },
  'challenge-quoted': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website’s answer is the challenge in quotes, as a JSON string; no vote was posted.',
      'Answer with the challenge without quotes, or with a JSON object whose key “challenge” is the challenge.',
    ),
  },
  'challenge-compressed': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website’s answer to the challenge is compressed, though Tallyport asked for none; no vote was posted.',
      'Switch the compression off for this URL, or obey Accept-Encoding: identity.',
    ),
  },
  'challenge-utf16': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website’s answer holds the challenge in UTF-16; no vote was posted.',
      'Answer in UTF-8.',
    ),
  },
  'challenge-upgraded': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The website answered the challenge that it changes the protocol (HTTP 101), which Tallyport did not ask for; no vote was posted.',
      'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.',
    ),
  },
  'challenge-headers-too-long': {
    class: 'configuration',
    fault: 'http-unverified',
    step: 'acknowledgement',
    text: explanation(
      'The headers of the website’s answer to the challenge are longer than 16 KiB, so it could not be read; no vote was posted.',
      'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.',
    ),
  },
} as const satisfies Record<string, OutcomeDefinition>;
