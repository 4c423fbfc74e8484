import { describe, expect, it } from 'vitest';
import {
  entityTagOf,
  isNotModified,
  parseIfMatch,
  requireConditionsSupported,
  requireCurrentTag,
} from './entity-tags.ts';

const refusedFor = (job: () => unknown) => {
  try {
    return job();
  } catch (error) {
    return error;
  }
};

describe('If-Match', () => {
  it.each([
    ['*', '*'],
    [' * ', '*'],
    ['"a"', ['a']],
    ['"a", "b" ,"c"', ['a', 'b', 'c']],
    [',, "a",', ['a']],
    ['""', ['']],
    ['"with, comma"', undefined],
    ['"with,comma"', ['with,comma']],
    ['W/"7.of-a-proxy-that-compresses"', ['7.of-a-proxy-that-compresses']],
    ['W/"weak", "strong"', ['weak', 'strong']],
    ['"é"', ['é']],
    ['"1.a+gzip", "b+br"', ['1.a', 'b']],
  ])('of %j is read as the tags %j', (given, named) => {
    const found = refusedFor(() => parseIfMatch({ 'if-match': given }));
    if (named === undefined) expect(found).toMatchObject({ kind: 'ValidationError' });
    else expect(found).toEqual(named);
  });

  it.each(['', ' ', ',', 'a', '"a', 'a"', '"a" "b"', '*, "a"', '"a"b', 'w/"a"', 'W/ "a"', '"a\u007f"', '"a b"'])(
    'of %j is refused and named',
    (given) => {
      expect(refusedFor(() => parseIfMatch({ 'if-match': given }))).toMatchObject({
        kind: 'ValidationError',
        details: [{ path: '/headers/if-match' }],
      });
    },
  );
});

describe('conditional reads', () => {
  it('match If-None-Match by weak and strong tags', () => {
    for (const given of ['"x"', 'W/"x"', '"y", W/"x"', '*']) {
      expect(isNotModified({ 'if-none-match': given }, 'x')).toBe(true);
    }
    for (const given of ['"X"', '"x.y"', 'W/"y"']) expect(isNotModified({ 'if-none-match': given }, 'x')).toBe(false);
    expect(isNotModified({}, 'x')).toBe(false);
  });

  it('fail with 412 when If-Match does not name the current tag', () => {
    for (const headers of [{}, { 'if-match': '"x"' }, { 'if-match': '*' }])
      expect(() => requireCurrentTag(headers, 'x')).not.toThrow();
    expect(refusedFor(() => requireCurrentTag({ 'if-match': '"y"', 'if-none-match': '"x"' }, 'x'))).toMatchObject({
      kind: 'PreconditionFailed',
      tag: 'x',
    });
  });
});

it('appends a hash of the bytes to the tag of the service', () => {
  const [one, other] = [entityTagOf('{"a":1}', '"7"'), entityTagOf('{"a":2}', '"7"')];
  expect(one).toMatch(/^7\.[\w-]{22}$/);
  expect(other).not.toBe(one);
  expect(entityTagOf('{"a":1}', undefined)).toBe(one.slice(2));
});

it('rejects conditions that a write does not support', () => {
  expect(refusedFor(() => requireConditionsSupported({ 'if-match': '"x"' }, false))).toMatchObject({
    kind: 'ValidationError',
    message: 'The `If-Match` header is not for this operation.',
    details: [{ path: '/headers/if-match' }],
  });
  expect(refusedFor(() => requireConditionsSupported({ 'if-none-match': '*' }, true))).toMatchObject({
    kind: 'ValidationError',
  });
  expect(() => requireConditionsSupported({ 'if-match': '"x"' }, true)).not.toThrow();
});
