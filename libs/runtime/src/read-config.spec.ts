import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TObject, Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyService, host, readConfig } from './index.ts';
import { type ConfigSchema, unknownSettings } from './read-config.ts';
import { unsafeSettings } from './unsafe-settings.ts';

describe('read config', () => {
  const schema = Type.Object({
    AUDIT_KEY: Type.Optional(Type.String({ secret: true, minLength: 8 })),
    AUDIT_DATABASE_URL: Type.Optional(Type.String({ format: 'uri' })),
    AUDIT_NAME: Type.Optional(Type.String()),
  });

  let folder = '';
  const file = (text: string, mode = 0o400): string => {
    const secretFile = path.join(folder, 'secret');
    rmSync(secretFile, { force: true });
    writeFileSync(secretFile, text);
    chmodSync(secretFile, mode);
    return secretFile;
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

  const faultOf = (environment: Record<string, string>, of: ConfigSchema = schema): string => {
    try {
      return JSON.stringify(readConfig(of, environment));
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('refuses a secret that is given twice, a file that it cannot read, and a value that does not fit, without the value', () => {
    expect(faultOf({ AUDIT_KEY: 'given as well', AUDIT_KEY_FILE: file('a canary') })).toBe(
      'AUDIT_KEY and AUDIT_KEY_FILE are both set: remove one of them.',
    );
    expect(faultOf({ AUDIT_KEY_FILE: path.join(folder, 'missing') })).toBe(
      'The file that AUDIT_KEY_FILE names does not exist (ENOENT). Mount the secret there, or correct the path.',
    );
    expect(faultOf({ AUDIT_KEY_FILE: folder })).toBe(
      'The file that AUDIT_KEY_FILE names is not a regular file. Name the file itself, not its folder.',
    );
    expect(faultOf({ AUDIT_KEY_FILE: file('canary') })).toMatch(/^AUDIT_KEY is not valid: (?!.*canary)/);
  });

  it('refuses an empty secret file instead of starting without the secret', () => {
    for (const text of ['', '\n', ' \r\n'])
      expect(faultOf({ AUDIT_KEY_FILE: file(text) })).toBe(
        'The file that AUDIT_KEY_FILE names is empty. Write the secret into it.',
      );
    expect(faultOf({ AUDIT_KEY_FILE: file('x'.repeat(70_000)) })).toMatch(/has 70000 bytes, more than a secret has/);
  });

  it('refuses a secret file that other users of the machine can read or change, and accepts one of a group', () => {
    expect(faultOf({ AUDIT_KEY_FILE: file('a canary', 0o644) })).toBe(
      'The file that AUDIT_KEY_FILE names can be read by every user (mode 0644). Run chmod 0400 on it, or 0440 for a group.',
    );
    expect(faultOf({ AUDIT_KEY_FILE: file('a canary', 0o602) })).toBe(
      'The file that AUDIT_KEY_FILE names can be changed by every user (mode 0602). Run chmod 0400 on it, and replace the secret.',
    );
    expect(faultOf({ AUDIT_KEY_FILE: file('a canary', 0o440) })).toBe('{"AUDIT_KEY":"a canary"}');
  });

  it('names the user that lacks the right to read a secret file', () => {
    const secretFile = file('a canary', 0o000);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(faultOf({ AUDIT_KEY_FILE: secretFile })).toMatch(
        /^The file that AUDIT_KEY_FILE names cannot be read by user \d+ \(EACCES\)\. Give that user/,
      );
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  it('holds a file with a key that the service reads itself to the same rules', () => {
    const withFile = Type.Object({ BUS_NKEY_FILE: Type.Optional(Type.String({ secretFile: true })) });
    const secretFile = file('SUACANARY', 0o604);
    expect(faultOf({ BUS_NKEY_FILE: secretFile }, withFile)).toMatch(
      /^The file that BUS_NKEY_FILE names can be read by every/,
    );
    chmodSync(secretFile, 0o400);
    expect(faultOf({ BUS_NKEY_FILE: secretFile }, withFile)).toBe(JSON.stringify({ BUS_NKEY_FILE: secretFile }));
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

  it('accepts the variable that npm adds to each script, although INIT_ is a prefix of settings', () => {
    expect(unknownSettings(schema, 'INIT_', { INIT_CWD: '/home/mia' })).toEqual([]);
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
});

const schema: TObject = Type.Object({
  ADMIN_TOKEN: Type.Optional(Type.String({ secret: true })),
  SMTP_URL: Type.Optional(Type.String({ secret: true })),
  FLAGS_DATABASE_URL: Type.Optional(Type.String({ format: 'uri' })),
  ORIGINS: Type.Optional(Type.String({ origins: true })),
});
const random = 'q7Jx2mVbRz0LwTfKcYpE9hNd';

describe('a setting in production', () => {
  it.each<[string, string, string]>([
    ['ADMIN_TOKEN', '*:*.short', 'fewer than 16 characters'],
    ['ADMIN_TOKEN', `*:*.${'ab'.repeat(20)}`, 'fewer than 8 different characters'],
    ['ADMIN_TOKEN', '*:*.unleash-insecure-admin-api-token', 'a word from a manual'],
    ['ADMIN_TOKEN', '*:*.0123456789abcdef0123456789abcdef', 'a word from a manual'],
    ['ADMIN_TOKEN', `*:*.${random},*:*.changemechangeme!`, 'a word from a manual'],
    ['FLAGS_DATABASE_URL', 'postgres://postgres@db.internal:5432/flags', 'without a password'],
    ['FLAGS_DATABASE_URL', 'postgres://postgres:postgres@db/flags', 'a password that can be guessed'],
    ['FLAGS_DATABASE_URL', 'postgresql://flags:passw0rd-example@10.1.2.3/flags', 'a password that can be guessed'],
    ['ORIGINS', 'https://a.example.org,http://b.example.org', 'without TLS'],
  ])('is reported as unsafe without its value: %s=%s', (key, value, why) => {
    const [warning = '', ...more] = unsafeSettings(schema, { [key]: value });
    expect(warning).toMatch(new RegExp(`^${key} is not safe for production: it .*${why}`));
    expect(more).toEqual([]);
    for (const part of value.split(/[.:@,/]+/).filter((one) => one.length > 8)) expect(warning).not.toContain(part);
  });

  it.each<[string, string]>([
    ['ADMIN_TOKEN', `*:*.${random}`],
    ['ADMIN_TOKEN', '*:*.964a287e1b728cb5f4f3e0120df92cb5'],
    ['ADMIN_TOKEN', `${random}, default:development.${random}`],
    ['FLAGS_DATABASE_URL', `postgres://flags:${random}@db.internal/flags`],
    ['FLAGS_DATABASE_URL', 'postgres://postgres@127.0.0.1:5432/flags'],
    ['FLAGS_DATABASE_URL', 'postgres://postgres:postgres@localhost/flags'],
    ['SMTP_URL', 'smtps://flags:secret@smtp.example.com:465'],
    ['ORIGINS', 'https://a.example.org, http://localhost:3000'],
    ['ORIGINS', ''],
  ])('is not reported when it is safe: %s=%s', (key, value) => {
    expect(unsafeSettings(schema, { [key]: value })).toEqual([]);
  });

  it('prevents the start when it is unsafe, and all unsafe settings are reported together without their values', async () => {
    const service: AnyService = {
      name: 'search',
      config: schema,
      start: async () => ({ ready: async () => undefined }),
    };
    const environment = {
      LOG_LEVEL: 'silent',
      ADMIN_TOKEN: '*:*.hunter2',
      FLAGS_DATABASE_URL: 'postgres://postgres:hunter2@db/flags',
      ORIGINS: 'http://flags.example.org',
    };
    const failure = await host([service], { environment: { ...environment, NODE_ENV: 'production' } }).catch(
      (error: Error) => error.message,
    );
    expect(String(failure).split('\n')).toEqual([
      expect.stringMatching(/^ADMIN_TOKEN is not safe/),
      expect.stringMatching(/^FLAGS_DATABASE_URL is not safe/),
      expect.stringMatching(/^ORIGINS is not safe/),
    ]);
    expect(failure).not.toContain('hunter2');
    await (await host([service], { environment })).stop();
  });
});
