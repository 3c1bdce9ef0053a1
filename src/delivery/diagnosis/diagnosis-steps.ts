/** What a diagnosis walks through, in this order. An HTTP listener has no version, key or token to agree on. */
export type DiagnosisStep =
  | 'name-resolution'
  | 'address-policy'
  | 'connecting'
  | 'greeting'
  | 'protocol-version'
  | 'key-or-token'
  | 'acknowledgement';

/** Told of each step as it begins; that it began means that those before it are in order. Must not throw. */
export type OnStep = (step: DiagnosisStep) => void;
