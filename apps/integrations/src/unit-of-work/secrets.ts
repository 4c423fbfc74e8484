import { refusal } from '@bunting/contracts';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts the secrets of an integration, each time with another nonce. What was sealed for one integration opens for no other. */
export interface SecretCipher {
  /** @throws Refusal `OperationDeniedError` without a key */
  readonly seal: (secrets: Readonly<Record<string, string>>, integrationId: number) => Buffer;
  /** @throws Refusal `OperationDeniedError` without the key that the secrets were sealed with */
  readonly open: (sealed: Buffer, integrationId: number) => Readonly<Record<string, string>>;
}

/** The cipher under the key that HKDF-SHA-256 derives from the setting `INTEGRATIONS_SECRET_KEY`. */
export function secretCipher(secretKey: string | undefined): SecretCipher {
  if (secretKey === undefined) {
    return {
      seal: () => {
        throw refusal(
          'OperationDeniedError',
          'Secrets of integrations cannot be stored: the server has no INTEGRATIONS_SECRET_KEY to encrypt them with.',
        );
      },
      open: () => {
        throw refusal(
          'OperationDeniedError',
          'Secrets of integrations cannot be read: the server has no INTEGRATIONS_SECRET_KEY. Set the one that they were encrypted with, or create the integrations again.',
        );
      },
    };
  }
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'bunting integration secrets', 32));
  const associatedData = (id: number): Buffer => Buffer.from(`integration ${id}`);
  return {
    seal: (secrets, id) => {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key, iv).setAAD(associatedData(id));
      const text = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]);
    },
    open: (sealed, id) => {
      const iv = sealed.subarray(0, ivBytes);
      const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes })
        .setAAD(associatedData(id))
        .setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
      try {
        const text = Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]);
        return JSON.parse(text.toString('utf8')) as Record<string, string>;
      } catch {
        throw refusal(
          'OperationDeniedError',
          'Secrets of integrations cannot be read: INTEGRATIONS_SECRET_KEY is not the key that they were encrypted with. Set the one that was used before (`npm start` and `npm run stack` keep theirs in the file integrations-key of the data folder), or create the integrations again.',
        );
      }
    },
  };
}
