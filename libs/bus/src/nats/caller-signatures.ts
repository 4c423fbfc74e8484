import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { CallerSignature } from '../bus.ts';
import { clockToleranceMs } from '../deadline.ts';

/** The keys of callers, as PEM text: Ed25519. */
export interface CallerKeys {
  /** signs the callers of calls; in gateways alone */
  readonly privateKey?: string | undefined;
  /** one or several, one after the other: verify the callers of received calls, in addition to the public half of `privateKey` */
  readonly publicKeys?: string | undefined;
}

/** How long a signature is valid at least, beyond the timeout of the call. */
const spareMs = 30_000;
/** How long a signature is valid at least: it is passed on by a call that another call causes. */
const minLifetimeMs = 60_000;
/** Signatures end at multiples of this, so that all gateways make the same one of a caller, which services have then verified already. */
const windowMs = 30_000;
/** Callers whose newest signature is kept, about 300 bytes each; the least recently used is evicted. */
const maxKept = 10_000;

interface Signature {
  /** `<end in milliseconds since 1970>.<signature, base64url>` */
  readonly text: string;
  readonly endsAt: number;
}

function ed25519(parse: () => KeyObject, fault: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = parse();
  } catch {
    // The error of the parser may quote the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new Error(fault);
  return key;
}

/** The keys as `node:crypto` uses them. @throws Error that names the setting with a key that is not one, and never the key */
function parseKeys({ privateKey, publicKeys = '' }: CallerKeys) {
  const own =
    privateKey === undefined
      ? undefined
      : ed25519(
          () => createPrivateKey(privateKey),
          'BUS_CALLER_KEY must be an Ed25519 private key as PEM text, as `openssl genpkey -algorithm ed25519` makes it.',
        );
  const blocks = publicKeys.split(/(?<=-----END [A-Z ]+-----)\s+/).filter((block) => block.trim() !== '');
  const others = blocks.map((block) =>
    ed25519(() => {
      // A private key contains its public one, and would be accepted in its place.
      if (!block.includes('BEGIN PUBLIC KEY')) throw new Error('This is no public key.');
      return createPublicKey(block);
    }, 'BUS_CALLER_PUBLIC_KEYS must be Ed25519 public keys as PEM text, as `openssl pkey -pubout` prints them, one after the other.'),
  );
  return { own, verifying: own === undefined ? others : [createPublicKey(own), ...others] };
}

/** A new pair of keys, as PEM text. */
export function newCallerKeys(): { readonly privateKey: string; readonly publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

/**
 * Signs and verifies the callers that calls name (docs/adr/0039). A process without the private key passes on the signatures that it has
 * received: a call that it makes on behalf of the same caller carries them.
 * @throws Error that names the setting with an unusable key
 */
export function callerSignatures(keys: CallerKeys, now: () => number = Date.now) {
  const { own, verifying } = parseKeys(keys);
  /** by hash of the caller: the newest signature that was made or verified */
  const kept = new Map<string, Signature>();
  const hashOf = (caller: string): string => hash('sha256', caller, 'base64');
  const signedBytes = (caller: string, endsAt: number | string): Buffer =>
    Buffer.from(`caller until ${endsAt}: ${caller}`);

  const find = (key: string): Signature | undefined => {
    const found = kept.get(key);
    if (found === undefined) return undefined;
    // Deleted and set again, so that the first key of the map is the least recently used.
    kept.delete(key);
    kept.set(key, found);
    return found;
  };
  const keep = (key: string, signature: Signature): void => {
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value as string);
    kept.set(key, signature);
  };

  return {
    /** The signature for a call with this caller and timeout; undefined if this process can make none, and has received none. */
    signatureOf: (caller: string, timeoutMs: number): string | undefined => {
      const key = hashOf(caller);
      const found = find(key);
      if (own === undefined) return found !== undefined && found.endsAt > now() ? found.text : undefined;
      const neededUntil = now() + Math.max(minLifetimeMs, timeoutMs + spareMs);
      if (found !== undefined && found.endsAt >= neededUntil) return found.text;
      const endsAt = Math.ceil(neededUntil / windowMs) * windowMs;
      const text = `${endsAt}.${sign(null, signedBytes(caller, endsAt), own).toString('base64url')}`;
      keep(key, { text, endsAt });
      return text;
    },

    /** Verifies the signature of a received call; an empty one is missing. */
    verify: (caller: string, signature: string): CallerSignature => {
      if (signature === '') return 'missing';
      const key = hashOf(caller);
      const [end = '', value = ''] = signature.split('.');
      const endsAt = Number(end);
      if (find(key)?.text !== signature) {
        const bytes = signedBytes(caller, end);
        if (!verifying.some((one) => verify(null, bytes, one, Buffer.from(value, 'base64url')))) return 'invalid';
        keep(key, { text: signature, endsAt });
      }
      return endsAt + clockToleranceMs >= now() ? 'valid' : 'expired';
    },
  };
}
export type CallerSignatures = ReturnType<typeof callerSignatures>;
