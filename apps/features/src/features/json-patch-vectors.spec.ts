import { JsonPatch } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { growingPatches } from '../../test/growing-patches.ts';
import { anyDocument, type Json, type Step, strictlyPatched } from '../../test/strict-json-patch.ts';
import { applyPatch } from './json-patch.ts';

interface Vector {
  readonly what: string;
  readonly doc: Json;
  readonly patch: readonly Step[];
  readonly expected?: Json;
  readonly error?: true;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../test/rfc6902-vectors.json', import.meta.url), 'utf8'),
) as readonly Vector[];

const either = <T>(job: () => T): { readonly done: T } | 'refused' => {
  try {
    return { done: job() };
  } catch {
    return 'refused';
  }
};

/** A vector's document may be anything; ours is an object, so it goes into a member of one. */
const within = (steps: readonly Step[]): Step[] =>
  steps.map((step) => ({
    ...step,
    path: `/doc${step.path}`,
    ...(step.from === undefined ? {} : { from: `/doc${step.from}` }),
  }));

describe('a patch by RFC 6902', () => {
  it.each(vectors)('$what', ({ doc, patch, expected, error }) => {
    const outcome = either(() => applyPatch({ doc }, within(patch) as JsonPatch, anyDocument));
    expect(outcome).toEqual(error === true ? 'refused' : { done: { doc: expected } });
    expect(either(() => strictlyPatched({ doc }, within(patch)))).toEqual(outcome);
  });

  it('does not support the operation test', () => {
    expect(() => parse(JsonPatch, [{ op: 'test', path: '/a', value: 1 }], '/body')).toThrow();
  });
});

/** The same numbers at each run (mulberry32). */
const random = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (most: number): number => Math.floor(next() * most);
  return { below, oneOf: <T>(items: readonly T[]): T => items[below(items.length)] as T };
};
type Random = ReturnType<typeof random>;

const names = ['a', 'b', 'c/d', 'e~f', '', '0', '-', 'é', '01'];
const leaves: readonly Json[] = [null, true, 0, 1.5, 'x', '', '☂'];

const someValue = (from: Random, depth = 0): Json => {
  const kind = from.below(depth > 2 ? 2 : 5);
  if (kind < 2) return from.oneOf(leaves);
  const count = from.below(4);
  if (kind < 4) return Array.from({ length: count }, () => someValue(from, depth + 1));
  return Object.fromEntries(Array.from({ length: count }, () => [from.oneOf(names), someValue(from, depth + 1)]));
};
const someDocument = (from: Random) =>
  Object.fromEntries(Array.from({ length: 1 + from.below(4) }, () => [from.oneOf(names), someValue(from)]));

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** A pointer that mostly leads somewhere, and now and then nowhere, or is none. */
const somePointer = (from: Random, document: Json): string => {
  if (from.below(40) === 0) return from.oneOf(['', 'a', '/a~2', '~', '/~', '//', '/a/-/b']);
  let pointer = '';
  let at: Json | undefined = document;
  for (let depth = 0; depth < 5; depth++) {
    const isList = Array.isArray(at);
    const known: string[] = typeof at === 'object' && at !== null ? Object.keys(at) : [];
    const key: string =
      from.below(4) > 0 && known.length > 0 ? from.oneOf(known) : from.oneOf([...names, String(known.length)]);
    pointer += `/${escaped(key)}`;
    at = isList ? (at as Json[])[Number(key)] : (at as Record<string, Json> | null)?.[key];
    if (typeof at !== 'object' || at === null || from.below(3) === 0) break;
  }
  return pointer;
};

const someStep = (from: Random, document: Json): Step => {
  const op = from.oneOf(['add', 'remove', 'replace', 'copy', 'move'] as const);
  const path = somePointer(from, document);
  if (op === 'copy' || op === 'move') return { op, path, from: somePointer(from, document) };
  return op === 'remove' || from.below(50) === 0 ? { op, path } : { op, path, value: someValue(from) };
};

describe('a generated patch', () => {
  it('has the result of an independent implementation, or both refuse it: 100,000 patches', () => {
    const from = random(6902);
    const count = { done: 0, refused: 0 };
    for (let nth = 0; nth < 100_000; nth++) {
      const document = someDocument(from);
      const patch: Step[] = [];
      // Each step is made for what the steps before it have made, so that many come to an end.
      let at: Json = document;
      for (let steps = 1 + from.below(5); steps > 0; steps--) {
        const step = someStep(from, at);
        patch.push(step);
        const outcome = either(() => strictlyPatched(at, [step]));
        if (outcome !== 'refused') at = outcome.done;
      }
      const before = JSON.stringify([document, patch]);
      const ours = either(() => applyPatch(document, patch as JsonPatch, anyDocument));
      const theirs = either(() => strictlyPatched(document, patch));
      const same = JSON.stringify(ours) === JSON.stringify(theirs);
      if (!same) expect({ document, patch, outcome: ours }).toEqual({ document, patch, outcome: theirs });
      if (JSON.stringify([document, patch]) !== before) throw new Error(`It was touched: ${before}`);
      count[ours === 'refused' ? 'refused' : 'done']++;
    }
    // Neither outcome is the rule: the comparison is about both.
    expect(Math.min(count.done, count.refused)).toBeGreaterThan(20_000);
  });
});

it.each(growingPatches)('a patch without bound is refused when it %s', (_, patch) => {
  expect(either(() => applyPatch({ a: { a: {} } }, patch as JsonPatch, anyDocument))).toBe('refused');
});
