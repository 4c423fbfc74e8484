import { urlFriendlyPattern } from '@bunting/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../test/builders.ts';
import { formatReferrers, type Referrer, requireMatchingName, requireUnused, requireUrlFriendlyName } from './names.ts';
import { featureNotInProject } from './refusals.ts';

describe('a name', () => {
  it.each(['checkout', 'a', '0', 'A-b_c.d', "!~*'()", '...', '.a', 'x'.repeat(100), 'constructor'])(
    'can be %j',
    (name) => {
      expect(() => requireUrlFriendlyName(name)).not.toThrow();
    },
  );

  it.each([
    'a b',
    ' a',
    'a/b',
    '%20',
    'ä',
    '🎉',
    '.',
    '..',
    'a\n',
    'a+b',
    'a&b',
    'a?b',
    'a#b',
    'a:b',
    'a,b',
    '\ud800',
    '',
    'x'.repeat(101),
    '__proto__',
  ])('cannot be %j', (name) => {
    const refusal = refusalOf(() => requireUrlFriendlyName(name));
    expect(refusal.kind).toBe('ValidationError');
    expect(refusal.details[0]?.path).toBe('/body/name');
    expect(refusal.message.isWellFormed()).toBe(true);
  });

  it('may have a lower maximum length', () => {
    expect(refusalOf(() => requireUrlFriendlyName('x'.repeat(51), '/body/type', 50)).details[0]?.path).toBe(
      '/body/type',
    );
  });
});

describe('the pattern of a project', () => {
  it.each([undefined, null, {}, { pattern: null }, { pattern: '' }])('may be missing: %j', (naming) => {
    expect(() => requireMatchingName('anything', naming)).not.toThrow();
  });

  it('must match the whole name, also with alternatives', () => {
    const naming = { pattern: 'a|b+' };
    expect(() => requireMatchingName('bbb', naming)).not.toThrow();
    for (const name of ['ac', 'cb', 'ab', ''])
      expect(() => requireMatchingName(name, naming)).toThrow('naming pattern');
  });

  it('is matched in linear time', () => {
    // A regular expression that backtracks would not return in the lifetime of a machine.
    expect(() => requireMatchingName('a'.repeat(99) + '!', { pattern: '(a+)+' })).toThrow('naming pattern');
  });
});

it('names are accepted exactly as the OpenAPI document describes them', () => {
  const documented = new RegExp(urlFriendlyPattern);
  const character = fc.constantFrom(
    '.',
    '..',
    'a',
    'Z',
    '0',
    '-',
    '_',
    '!',
    '~',
    '*',
    "'",
    '(',
    ')',
    ' ',
    '/',
    '%',
    'é',
    '\n',
  );
  const name = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.array(character, { maxLength: 4 }).map((parts) => parts.join('')),
  );
  const isTaken = (text: string): boolean => {
    try {
      requireUrlFriendlyName(text);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(name, (text) => documented.test(text) === isTaken(text)),
    { numRuns: 2_000, seed: 11 },
  );
});

const users = (count: number, project = 'shop'): Referrer[] =>
  Array.from({ length: count }, (_, nth) => ({ name: `${project}-${nth}`, project }));

it('the error for an object in use names ten uses and the number of others', () => {
  expect(formatReferrers(users(2), [])).toBe('shop-0, shop-1');
  expect(formatReferrers([...users(1), ...users(1)], [])).toBe('shop-0');
  expect(formatReferrers(users(11), [])).toMatch(/shop-9, …$/);
});

it('the error for an object in use only counts uses that are hidden from the caller', () => {
  expect(formatReferrers([...users(1), ...users(2, 'vault')], ['vault'])).toBe('shop-0 and 2 others');
  expect(formatReferrers(users(1, 'vault'), ['vault'])).toBe('1 other');
});

it('an object in use cannot be deleted', () => {
  expect(refusalOf(() => requireUnused('Segment beta', users(1), []))).toMatchObject({
    kind: 'ConflictError',
    message: 'Segment beta is in use by shop-0',
  });
  expect(() => requireUnused('Segment beta', [], [])).not.toThrow();
});

it('the error for a missing feature mentions that it may be in another project', () => {
  expect(featureNotInProject('f', 'p').message).toBe('There\'s no feature named "f" in project "p".');
  expect(featureNotInProject('f', 'p', 'q').message).toBe(
    'There\'s no feature named "f" in project "p", but there\'s a feature with that name in project "q"',
  );
});
