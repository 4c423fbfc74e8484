import { describe, expect, it } from 'vitest';
import { refusePrototypeKeys } from './refuse-prototype-keys.ts';

describe('a body', () => {
  it.each([
    ['{"__proto__": {}}', '/body/__proto__'],
    ['[{"payload": {"parameters": {"__proto__": "x"}}}]', '/body/0/payload/parameters/__proto__'],
    ['{"payload": [{"a": [null, {"__proto__": 1}]}]}', '/body/payload/0/a/1/__proto__'],
  ])('is refused with a key that could become a prototype: %s', (json, path) => {
    expect(() => refusePrototypeKeys(JSON.parse(json), '/body')).toThrow(`The \`${path}\` property is not allowed.`);
  });

  it.each(['null', '"__proto__"', '7', '[]', '{"proto": {"constructor": "prototype"}}'])(
    'is accepted with the harmless key: %s',
    (json) => {
      expect(() => refusePrototypeKeys(JSON.parse(json), '/body')).not.toThrow();
    },
  );
});
