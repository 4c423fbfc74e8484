import { Webhook } from 'standardwebhooks';
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { requireValidSigningKeys, signatureHeaders } from './signature.ts';

const body = '{"type":"feature-created","data":"ünïcode"}';
const id = 'evt_1';

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

describe('signatures', () => {
  it('are verified by the library of Standard Webhooks, with the old and with the new key of a rotation', () => {
    const [oldKey, newKey] = [newSecret(), newSecret()];
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...signatureHeaders(`${newKey} ${oldKey}`, { id, timestamp, body }),
    };
    for (const key of [oldKey, newKey]) expect(new Webhook(key).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(oldKey).verify(`${body} `, headers)).toThrow();
  });

  it('with an Ed25519 key are verified with its public half', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
    const { 'webhook-signature': signature = '' } = signatureHeaders(`whsk_${seed.toString('base64')}`, {
      id,
      timestamp: 7,
      body,
    });
    const [version, encoded = ''] = signature.split(',');
    expect(version).toBe('v1a');
    const signed = Buffer.from(`${id}.7.${body}`);
    expect(verify(null, signed, createPublicKey(privateKey), Buffer.from(encoded, 'base64'))).toBe(true);
  });

  it.each([
    '',
    'secret',
    'whsec_',
    `whsec_${randomBytes(23).toString('base64')}`,
    `whsec_${randomBytes(65).toString('base64')}`,
    'whsec_*'.padEnd(60, 'a'),
    `whsk_${randomBytes(31).toString('base64')}`,
    `${newSecret()} other`,
  ])('take no keys that are none of Standard Webhooks: %s', (keys) =>
    expect(() => requireValidSigningKeys(keys, '/body/parameters/signingKeys')).toThrow('must be 1 to 10 keys'),
  );
});
