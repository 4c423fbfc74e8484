import { invalid } from '@bunting/contracts';
import { createHash, createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { OutgoingRequest } from './http-client.ts';

/** The lengths of a key for HMAC that Standard Webhooks asks for, in bytes. */
const minKeyBytes = 24;
const maxKeyBytes = 64;
const ed25519SeedBytes = 32;
/** The DER encoding of an Ed25519 private key, before its 32 bytes (RFC 8410). */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

type SigningKey = { readonly hmac: Buffer } | { readonly ed25519: KeyObject };

function ed25519Key(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([ed25519Prefix, seed]), format: 'der', type: 'pkcs8' });
}

/** Parses a key; undefined for one that has neither form. A private key may be the seed, or the seed and the public key. */
function parseKey(text: string): SigningKey | undefined {
  const [, prefix, encoded = ''] = /^(whsec_|whsk_)(.*)$/.exec(text) ?? [];
  if (prefix === undefined || !base64.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (prefix === 'whsec_')
    return bytes.length >= minKeyBytes && bytes.length <= maxKeyBytes ? { hmac: bytes } : undefined;
  if (bytes.length !== ed25519SeedBytes && bytes.length !== 2 * ed25519SeedBytes) return undefined;
  return { ed25519: ed25519Key(bytes.subarray(0, ed25519SeedBytes)) };
}

function keysOf(signingKeys: string): readonly string[] {
  return signingKeys.split(/\s+/).filter((key) => key !== '');
}

/** @throws Refusal `ValidationError` if one of the keys is none of Standard Webhooks */
export function requireValidSigningKeys(signingKeys: string, path: string): void {
  const keys = keysOf(signingKeys);
  if (keys.length > 0 && keys.length <= 10 && keys.every((key) => parseKey(key) !== undefined)) return;
  throw invalid(
    `The \`${path}\` property must be 1 to 10 keys, separated by spaces: whsec_ and ${minKeyBytes} to ${maxKeyBytes} bytes in base64, or whsk_ and an Ed25519 private key of 32 bytes in base64.`,
    path,
  );
}

/** A signature of each key. */
function signaturesOf(signingKeys: string, signed: string): string {
  const signatures = keysOf(signingKeys).flatMap((text) => {
    const key = parseKey(text);
    if (key === undefined) return [];
    return 'hmac' in key
      ? `v1,${createHmac('sha256', key.hmac).update(signed).digest('base64')}`
      : `v1a,${sign(null, Buffer.from(signed), key.ed25519).toString('base64')}`;
  });
  return signatures.join(' ');
}

/** The headers of Standard Webhooks 1.0.0 for a body: a signature of each key. */
export function signatureHeaders(
  signingKeys: string,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): Readonly<Record<string, string>> {
  return { 'webhook-signature': signaturesOf(signingKeys, `${id}.${timestamp}.${body}`) };
}

/** Signs which events an object has, what its bytes are, and the head of the chain of hashes: `from.to.hash.sha256`, the last in hexadecimal. */
export function headSignature(
  signingKeys: string,
  { headers, body }: Pick<OutgoingRequest, 'headers' | 'body'>,
): string {
  const parts = ['from', 'to', 'hash'].map((name) => headers[`x-amz-meta-bunting-${name}`] ?? '');
  return signaturesOf(signingKeys, [...parts, createHash('sha256').update(body).digest('hex')].join('.'));
}
