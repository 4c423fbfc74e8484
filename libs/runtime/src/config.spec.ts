import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Type } from 'typebox';
import { unknownSettings } from './config.ts';
import { readConfig } from './index.ts';

const schema = Type.Object({
  AUDIT_KEY: Type.Optional(Type.String({ secret: true, minLength: 8 })),
  AUDIT_DATABASE_URL: Type.Optional(Type.String({ format: 'uri' })),
  AUDIT_NAME: Type.Optional(Type.String()),
});

let folder = '';
const file = (text: string): string => {
  const place = path.join(folder, 'secret');
  writeFileSync(place, text);
  return place;
};
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'bunting-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('reads a secret and the address of a database from the file that a setting names, without the last line break', () => {
  expect(readConfig(schema, { AUDIT_KEY_FILE: file(' of the audit \n') })).toEqual({ AUDIT_KEY: ' of the audit ' });
  const url = 'postgres://audit:canary@db/audit';
  expect(readConfig(schema, { AUDIT_DATABASE_URL_FILE: file(url) })).toEqual({ AUDIT_DATABASE_URL: url });
});

it('reads no other setting from a file', () => {
  expect(readConfig(schema, { AUDIT_NAME_FILE: file('audit') })).toEqual({});
});

it('refuses a secret that is given twice, a file that it cannot read, and a value that does not fit, without the value', () => {
  const faultOf = (environment: Record<string, string>): string => {
    try {
      return JSON.stringify(readConfig(schema, environment));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(faultOf({ AUDIT_KEY: 'given as well', AUDIT_KEY_FILE: file('a canary') })).toBe(
    'AUDIT_KEY and AUDIT_KEY_FILE are both set: remove one of them.',
  );
  expect(faultOf({ AUDIT_KEY_FILE: path.join(folder, 'missing') })).toBe(
    'The file that AUDIT_KEY_FILE names cannot be read (ENOENT).',
  );
  expect(faultOf({ AUDIT_KEY_FILE: file('canary') })).toMatch(/^AUDIT_KEY is not valid: (?!.*canary)/);
});

it('refuses an unknown setting with the prefix of a service and names the setting that was probably meant', () => {
  const environment = {
    AUDIT_DATABSE_URL: 'postgres://localhost/canary',
    AUDIT_KYE_FILE: '/run/secrets/canary',
    AUDIT_COLOUR: 'canary',
  };
  expect(unknownSettings(schema, 'AUDIT_', environment)).toEqual([
    'AUDIT_DATABSE_URL is not a setting. Did you mean AUDIT_DATABASE_URL?',
    'AUDIT_KYE_FILE is not a setting. Did you mean AUDIT_KEY_FILE?',
    'AUDIT_COLOUR is not a setting.',
  ]);
});

it('accepts known settings, empty variables, the variables of Kubernetes and those without the prefix', () => {
  const environment = {
    AUDIT_NAME: 'audit',
    AUDIT_KEY_FILE: '/run/secrets/key',
    AUDIT_COLOUR: '',
    AUDIT_SERVICE_HOST: '10.0.0.7',
    AUDIT_SERVICE_PORT_HTTP: '80',
    AUDIT_PORT: 'tcp://10.0.0.7:80',
    AUDIT_PORT_80_TCP_ADDR: '10.0.0.7',
    SEARCH_COLOUR: 'red',
  };
  expect(unknownSettings(schema, 'AUDIT_', environment)).toEqual([]);
});
