import { expect, it } from 'vitest';
import { csvOfRecord, requireConfiguredOrigins } from './endpoints.ts';

const configured = ['https://a.example.org', 'https://b.example.org'];

it.each([
  ['none', undefined],
  ['the same', configured],
  ['the same in another order, twice', [...configured, ...configured].toReversed()],
])('a request that names %s of the configured origins changes nothing', (_, requested) => {
  expect(() => requireConfiguredOrigins(requested, configured)).not.toThrow();
});

it.each([
  ['fewer', configured.slice(1)],
  ['more', [...configured, '*']],
  ['no', []],
])('a request that names %s origins is refused, and the message names the setting', (_, requested) => {
  expect(() => requireConfiguredOrigins(requested, configured)).toThrow('GATEWAY_FRONTEND_CORS_ORIGINS');
});

it('writes a record as a line of names and a line of values, with arrays and objects as JSON', () => {
  expect(csvOfRecord({ name: 'a "b", c', count: 2, on: false, parts: { last7: 1 }, list: ['x'] })).toBe(
    '"name","count","on","parts","list"\r\n"a ""b"", c",2,false,"{""last7"":1}","[""x""]"\r\n',
  );
});
