import { describe, expect, it } from 'vitest';
import { type TObject, Type } from 'typebox';
import { type AnyService, host } from './index.ts';
import { unsafeSettings } from './unsafe-settings.ts';

const schema: TObject = Type.Object({
  ADMIN_TOKEN: Type.Optional(Type.String({ secret: true })),
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
