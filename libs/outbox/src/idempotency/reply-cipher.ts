import type { IdempotentWrite } from '@bunting/bus';
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The hash by which an `Idempotency-Key` is stored: the database never holds the key itself. */
export const hashedKeyOf = ({ scope, key }: IdempotentWrite): string =>
  hash('sha256', `name ${scope} ${key}`, 'base64url');

/** The key of the cipher. It cannot be derived from the stored hash. */
const secretOf = ({ scope, key }: IdempotentWrite): Buffer => hash('sha256', `seal ${scope} ${key}`, 'buffer');

/** Encrypts a reply with the `Idempotency-Key`: it may hold a secret that is shown once, and only a retry has the key. */
export const encryptWithKey = (write: IdempotentWrite, text: string): string => {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, secretOf(write), iv);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64');
};

/** @throws Error for a reply that was encrypted with another key */
export const decryptWithKey = (write: IdempotentWrite, text: string): string => {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(algorithm, secretOf(write), bytes.subarray(0, ivBytes));
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
};
