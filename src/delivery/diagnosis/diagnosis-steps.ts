/** The steps of a diagnosis, in this order. An HTTP listener has no version, key or token to check. */
export type DiagnosisStep =
  | 'name-resolution'
  | 'address-policy'
  | 'connecting'
  | 'greeting'
  | 'protocol-version'
  | 'key-or-token'
  | 'acknowledgement';

/** Called when a step begins, which means that all earlier steps succeeded. Must not throw. */
export type OnStep = (step: DiagnosisStep) => void;
