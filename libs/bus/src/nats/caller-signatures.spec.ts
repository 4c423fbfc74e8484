import { describe, expect, it } from 'vitest';
import { callerSignatures, newCallerKeys } from './caller-signatures.ts';

const keys = newCallerKeys();
const others = newCallerKeys();
const start = Date.UTC(2026, 10, 27);
const mia = 'eyJpZCI6M30';

/** A gateway and a service whose clocks show `clock.now`. */
const bothAt = (now = start) => {
  const clock = { now };
  const read = () => clock.now;
  return {
    clock,
    gateway: callerSignatures({ privateKey: keys.privateKey }, read),
    service: callerSignatures({ publicKeys: keys.publicKey }, read),
  };
};
const signed = ({ gateway }: ReturnType<typeof bothAt>, caller = mia, timeoutMs = 10_000): string =>
  gateway.signatureOf(caller, timeoutMs) ?? '';

describe('the signature of a caller', () => {
  it('is valid for longer than the call may take, and expires within two minutes', () => {
    for (const timeoutMs of [100, 10_000, 60_000]) {
      const both = bothAt(start + 12_345);
      const signature = signed(both, mia, timeoutMs);
      both.clock.now += Math.max(60_000, timeoutMs + 30_000);
      expect(both.service.verify(mia, signature)).toBe('valid');
      both.clock.now = start + 12_345 + 121_001;
      expect(both.service.verify(mia, signature)).toBe('expired');
      expect(bothAt(both.clock.now).service.verify(mia, signature)).toBe('expired');
    }
  });

  it('is invalid for another caller, with another end, of another key, cut or made up', () => {
    const both = bothAt();
    const signature = signed(both);
    const [end = '', value = ''] = signature.split('.');
    const foreign = callerSignatures({ privateKey: others.privateKey }, () => start).signatureOf(mia, 10_000) ?? '';
    expect(both.service.verify(mia, signature)).toBe('valid');
    expect(both.service.verify('eyJpZCI6MX0', signature)).toBe('invalid');
    for (const forged of [
      `${Number(end) + 1}.${value}`,
      foreign,
      `${end}.${value.slice(4)}`,
      end,
      `.${value}`,
      'x',
      '.',
    ])
      expect([forged, both.service.verify(mia, forged)]).toEqual([forged, 'invalid']);
    expect(both.service.verify(mia, '')).toBe('missing');
  });

  it('is made anew before it expires, and is the same from every gateway', () => {
    const both = bothAt();
    const first = signed(both);
    both.clock.now += 25_000;
    expect(signed(both)).toBe(
      callerSignatures({ privateKey: keys.privateKey }, () => both.clock.now).signatureOf(mia, 10_000),
    );
    both.clock.now += 30_000;
    expect(signed(both)).not.toBe(first);
    expect(both.service.verify(mia, signed(both))).toBe('valid');
  });

  it('is passed on by a service for the caller that it was received with, until it expires, and for no other', () => {
    const both = bothAt();
    const signature = signed(both);
    expect(both.service.signatureOf(mia, 10_000)).toBeUndefined();
    both.service.verify(mia, signature);
    expect(both.service.signatureOf(mia, 10_000)).toBe(signature);
    expect(both.service.signatureOf('eyJpZCI6MX0', 10_000)).toBeUndefined();
    both.service.verify('eyJpZCI6MX0', 'forged');
    expect(both.service.signatureOf('eyJpZCI6MX0', 10_000)).toBeUndefined();
    both.clock.now += 120_000;
    expect(both.service.signatureOf(mia, 10_000)).toBeUndefined();
  });

  it('is valid with each of several public keys, while the key of the gateways is replaced', () => {
    const both = callerSignatures({ publicKeys: `${others.publicKey}${keys.publicKey}` }, () => start);
    for (const { privateKey } of [keys, others])
      expect(both.verify(mia, callerSignatures({ privateKey }, () => start).signatureOf(mia, 10_000) ?? '')).toBe(
        'valid',
      );
  });

  it('is trusted by no process without keys', () => {
    expect(callerSignatures({}).verify(mia, signed(bothAt()))).toBe('invalid');
  });
});

it.each([
  [{ privateKey: 'hunter2' }, 'BUS_CALLER_KEY must be an Ed25519 private key'],
  [{ privateKey: keys.publicKey }, 'BUS_CALLER_KEY must be an Ed25519 private key'],
  [{ publicKeys: 'hunter2' }, 'BUS_CALLER_PUBLIC_KEYS must be Ed25519 public keys'],
  [{ publicKeys: keys.privateKey }, 'BUS_CALLER_PUBLIC_KEYS must be Ed25519 public keys'],
  [{ publicKeys: `${keys.publicKey}${keys.privateKey}` }, 'BUS_CALLER_PUBLIC_KEYS must be Ed25519 public keys'],
])('a setting without usable keys is refused with its name and without its value', (given, message) => {
  let fault = '';
  try {
    callerSignatures(given);
  } catch (error) {
    fault = (error as Error).message;
  }
  expect(fault).toContain(message);
  expect(fault).not.toMatch(/hunter2|BEGIN/);
});
