import { invalid } from '@bunting/contracts';

/** Parses an event id and hash: `<id>:<64 hexadecimal digits>`. @throws Refusal `ValidationError` */
export const parseChainCheckpoint = (text: string, path: string): SentCheckpoint => {
  const colon = text.indexOf(':');
  const [digits, hash] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1).toLowerCase()];
  const id = Number(digits);
  if (!/^\d{1,15}$/.test(digits) || !/^[0-9a-f]{64}$/.test(hash)) {
    throw invalid(`The \`${path}\` property must be an event id, a colon and a hash of 64 hexadecimal digits.`, path);
  }
  return { id, hash, path };
};

/** The id and hash of an event. An operator stores them outside the log to prove later that the log up to it has not been rewritten. */
export interface ChainCheckpoint {
  readonly id: number;
  readonly hash: string;
}

/** A checkpoint that the log is compared with, and where it was sent. */
export interface SentCheckpoint extends ChainCheckpoint {
  readonly path?: string;
}
