import { defineMessage } from '../../language/t.ts';
import type { Explanation } from './explanation.ts';

/** The meaning of each outcome that only websites (HTTP listeners) have, and how to correct it. */
export const WEBSITE_EXPLANATIONS = {
  'http-unavailable': {
    cause: defineMessage(
      'The website answered that it cannot take votes now (HTTP 5xx or 408); the vote may have arrived all the same.',
    ),
    advice: defineMessage('Look into the log of the website or application that takes the votes.'),
  },
  'http-limited': {
    cause: defineMessage(
      'The website limits how many requests it takes (HTTP 429), and this vote was over its limit; it may have arrived all the same.',
    ),
    advice: defineMessage(
      'Raise the limit of the website, or of the proxy or filter in front of it, for this URL.',
    ),
  },
  'http-not-ready': {
    cause: defineMessage(
      'The website answered the challenge that it cannot take votes now (HTTP 5xx or 408); no vote was posted.',
    ),
    advice: defineMessage('Look into the log of the website or application that takes the votes.'),
  },
  'challenge-limited': {
    cause: defineMessage(
      'The website limits how many requests it takes (HTTP 429), and the challenge was over its limit; no vote was posted.',
    ),
    advice: defineMessage(
      'Raise the limit of the website, or of the proxy or filter in front of it, for this URL.',
    ),
  },
  'http-upgraded': {
    cause: defineMessage(
      'The website answered that it changes the protocol (HTTP 101), which no vote asks for; the vote may have arrived all the same.',
    ),
    advice: defineMessage(
      'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.',
    ),
  },
  'http-headers-too-long': {
    cause: defineMessage(
      'The headers of the website’s answer are longer than 16 KiB, so it could not be read; the vote may have arrived all the same.',
    ),
    advice: defineMessage(
      'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.',
    ),
  },
  'not-http': {
    cause: defineMessage('Something that does not speak HTTP answers at this address and port.'),
    advice: defineMessage(
      'Check the port in the URL: it is the website’s, not the game’s and not Votifier’s.',
    ),
  },
  'tls-failed': {
    cause: defineMessage('The URL begins with https://, and what answers there does not speak TLS.'),
    advice: defineMessage(
      'Check the port in the URL, enable HTTPS at the website, or begin the URL with http:// if it has none.',
    ),
  },
  'tls-too-old': {
    cause: defineMessage('The website speaks only TLS 1.1 or older, which is not safe any more.'),
    advice: defineMessage('Enable TLS 1.2 or 1.3 at the website or at the proxy in front of it.'),
  },
  'tls-expected': {
    cause: defineMessage(
      'The URL begins with http://, and what answers there speaks TLS; nothing of the vote was read.',
    ),
    advice: defineMessage('Begin the URL with https://.'),
  },
  'certificate-refused': {
    cause: defineMessage('The certificate of the website is not valid.'),
    advice: defineMessage(
      'Let a public authority issue a new certificate, and install it with its intermediate certificates.',
    ),
  },
  'certificate-other-name': {
    cause: defineMessage('The certificate of the website is for another name than the host in the URL.'),
    advice: defineMessage(
      'Set the URL to the name in the certificate, which a browser shows at the lock, or let the website show a certificate for the host in the URL.',
    ),
  },
  'certificate-expired': {
    cause: defineMessage('The certificate of the website has expired.'),
    advice: defineMessage('Renew the certificate, and restart the website so that it shows the new one.'),
  },
  'certificate-not-yet-valid': {
    cause: defineMessage('The certificate of the website is not valid yet.'),
    advice: defineMessage(
      'Wait until its first day, or install the certificate that is valid now; check the clock of the machine that made it.',
    ),
  },
  'certificate-self-signed': {
    cause: defineMessage(
      'The certificate of the website is self-signed, or signed by an authority of its own.',
    ),
    advice: defineMessage(
      'Install a certificate of a public authority, such as Let’s Encrypt; a self-signed one is not accepted.',
    ),
  },
  'certificate-incomplete': {
    cause: defineMessage(
      'The chain of the website’s certificate is incomplete: its intermediate certificates are not sent, or they lead to no public authority.',
    ),
    advice: defineMessage(
      'Let the website send the intermediate certificates too (often a file called fullchain.pem); if its authority is not a public one, install a certificate of one, such as Let’s Encrypt.',
    ),
  },
  'http-redirected': {
    cause: defineMessage('The URL answers with a redirect, and votes do not follow redirects.'),
    advice: defineMessage(
      'Open the URL in a browser to see where the redirect leads, and set the listener to that URL; mostly https://, www. or a slash at the end is missing.',
    ),
  },
  'http-sign-in': {
    cause: defineMessage(
      'The URL redirects to a page to sign in, so it wants a session, which votes do not have.',
    ),
    advice: defineMessage(
      'Let the URL need no session: exempt it from the sign-in, and check the signature of each message instead.',
    ),
  },
  'http-forbidden': {
    cause: defineMessage(
      'The website refuses the request (HTTP 401 or 403): it does not accept our signature, or a filter blocks it.',
    ),
    advice: defineMessage(
      'Compare the secret there with the listener’s, make a new one if in doubt, and let the filter pass this URL.',
    ),
  },
  'http-not-found': {
    cause: defineMessage('There is nothing at this URL (HTTP 404 or 410).'),
    advice: defineMessage(
      'Check the path of the URL, and that the application which takes the votes is installed there.',
    ),
  },
  'http-method-refused': {
    cause: defineMessage('This URL takes no POST requests (HTTP 405 or 501), and votes are posted.'),
    advice: defineMessage(
      'Check the path of the URL, and that the application there takes POST requests; then send a test vote, and resume the listener if it is paused.',
    ),
  },
  'http-votes-refused': {
    cause: defineMessage(
      'The website refuses votes: it has acknowledged none with its current settings, or refused two in a row; other votes wait.',
    ),
    advice: defineMessage(
      'Look into the website’s log for the reason, correct it, send a test vote, and resume the listener if it is paused.',
    ),
  },
  'http-unverified': {
    cause: defineMessage(
      'The website answered a signed challenge and did not repeat it, so it may not want votes; none was posted.',
    ),
    advice: defineMessage(
      'Check that the URL leads to the program that takes the votes, and let it answer a message of the type listener.challenge with its challenge, as the example on the listener’s page shows; then send a test vote, and resume the listener if it is paused.',
    ),
  },
  'challenge-upgraded': {
    cause: defineMessage(
      'The website answered the challenge that it changes the protocol (HTTP 101), which Tallyport did not ask for; no vote was posted.',
    ),
    advice: defineMessage(
      'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.',
    ),
  },
  'challenge-headers-too-long': {
    cause: defineMessage(
      'The headers of the website’s answer to the challenge are longer than 16 KiB, so it could not be read; no vote was posted.',
    ),
    advice: defineMessage(
      'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.',
    ),
  },
  'challenge-surrounded': {
    cause: defineMessage(
      'The website’s answer holds the challenge, but beside other text, such as a notice of PHP, a page around it or our whole message; no vote was posted.',
    ),
    advice: defineMessage(
      'Answer with the challenge alone, or with a JSON object whose key “challenge” is the challenge, and nothing before, after or around it: switch off the output of notices.',
    ),
  },
  'challenge-quoted': {
    cause: defineMessage(
      'The website’s answer is the challenge in quotes, as a JSON string; no vote was posted.',
    ),
    advice: defineMessage(
      'Answer with the challenge without quotes, or with a JSON object whose key “challenge” is the challenge.',
    ),
  },
  'challenge-compressed': {
    cause: defineMessage(
      'The website’s answer to the challenge is compressed, though Tallyport asked for none; no vote was posted.',
    ),
    advice: defineMessage('Switch the compression off for this URL, or obey Accept-Encoding: identity.'),
  },
  'challenge-utf16': {
    cause: defineMessage('The website’s answer holds the challenge in UTF-16; no vote was posted.'),
    advice: defineMessage('Answer in UTF-8.'),
  },
} as const satisfies Record<string, Explanation>;
