import { invalid } from '@bunting/contracts';

/** The id and hash of an event. An operator stores them outside the log to prove later that the log up to it has not been rewritten. */
export interface KnownEvent {
  readonly id: number;
  readonly hash: string;
}

/** A known event that the log is compared with. */
export interface SentKnownEvent extends KnownEvent {
  /** the path of the property or the option in which it was sent, which a refusal names */
  readonly path?: string;
}

/** Parses an event id and hash: `<id>:<64 hexadecimal digits>`. @throws Refusal `ValidationError` */
export const parseKnownEvent = (text: string, path: string): SentKnownEvent => {
  const colon = text.indexOf(':');
  const [digits, hash] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1).toLowerCase()];
  const id = Number(digits);
  if (!/^\d{1,15}$/.test(digits) || !/^[0-9a-f]{64}$/.test(hash)) {
    throw invalid(`The \`${path}\` property must be an event id, a colon and a hash of 64 hexadecimal digits.`, path);
  }
  return { id, hash, path };
};
