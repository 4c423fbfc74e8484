import { readFileSync } from 'node:fs';
import { JsonPatch, type PatchOperation, Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growingPatches } from '../../test/growing-patches.ts';
import { refusalOf as refusalOfJob } from '../../test/builders.ts';
import { anyDocument, type Json, type Step, strictlyPatched } from '../../test/strict-json-patch.ts';
import { applyPatch, type PatchableMembers, patchLimits } from './json-patch.ts';

const patchable: PatchableMembers = {
  members: new Set(['name', 'title', 'parameters', 'constraints', 'segments', 'featureName']),
  maps: new Set(['parameters']),
};

const aDocument = () => ({
  name: 'flexibleRollout',
  title: null,
  parameters: { rollout: '50', 'a/b': 'slash', 'a~b': 'tilde' } as Record<string, string>,
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['1', '2'] }],
  segments: [1, 2, 3],
});

const patch = (...operations: PatchOperation[]) => applyPatch(aDocument(), operations, patchable);

const refusalOf = (operations: unknown, document: Record<string, unknown> = aDocument()): Refusal =>
  refusalOfJob(() => applyPatch(document, operations as JsonPatch, patchable));

describe('a patch', () => {
  it.each<[string, PatchOperation, object]>([
    ['sets a member', { op: 'replace', path: '/name', value: 'default' }, { name: 'default' }],
    ['sets a member that was null', { op: 'replace', path: '/title', value: 'x' }, { title: 'x' }],
    ['adds one of a map', { op: 'add', path: '/parameters/groupId', value: 'x' }, { parameters: { groupId: 'x' } }],
    [
      'finds a key with a slash',
      { op: 'replace', path: '/parameters/a~1b', value: 'x' },
      { parameters: { 'a/b': 'x' } },
    ],
    [
      'finds a key with a tilde',
      { op: 'replace', path: '/parameters/a~0b', value: 'x' },
      { parameters: { 'a~b': 'x' } },
    ],
    ['adds at the end of a list', { op: 'add', path: '/segments/-', value: 4 }, { segments: [1, 2, 3, 4] }],
    ['adds at the index after the last', { op: 'add', path: '/segments/3', value: 4 }, { segments: [1, 2, 3, 4] }],
    ['adds within a list', { op: 'add', path: '/segments/0', value: 4 }, { segments: [4, 1, 2, 3] }],
    ['replaces in a list', { op: 'replace', path: '/segments/1', value: 4 }, { segments: [1, 4, 3] }],
    ['removes from a list', { op: 'remove', path: '/segments/1' }, { segments: [1, 3] }],
    ['moves within a list', { op: 'move', from: '/segments/0', path: '/segments/2' }, { segments: [2, 3, 1] }],
    ['copies', { op: 'copy', from: '/name', path: '/title' }, { title: 'flexibleRollout' }],
    ['moves to a member that is allowed', { op: 'move', from: '/title', path: '/featureName' }, { featureName: null }],
    ['moves a value to where it is', { op: 'move', from: '/name', path: '/name' }, { name: 'flexibleRollout' }],
    [
      'sets an optional member that is missing',
      { op: 'replace', path: '/featureName', value: 'x' },
      { featureName: 'x' },
    ],
    [
      'goes deep',
      { op: 'replace', path: '/constraints/0/values/1', value: '3' },
      { constraints: [{ values: ['1', '3'] }] },
    ],
  ])('%s', (_, operation, expected) => {
    expect(patch(operation)).toMatchObject(expected);
  });

  it.each<[string, PatchOperation]>([
    ['a parameter', { op: 'remove', path: '/parameters/rollout' }],
    ['a parameter, by setting it to nothing', { op: 'replace', path: '/parameters/rollout' }],
    ['a parameter, by adding nothing', { op: 'add', path: '/parameters/rollout' }],
  ])('removes %s', (_, operation) => {
    expect(Object.keys(patch(operation)['parameters'] as object)).toEqual(['a/b', 'a~b']);
  });

  it.each<[string, PatchOperation]>([
    ['a parameter that is not there', { op: 'remove', path: '/parameters/nothing' }],
    ['a name of every object that is no parameter', { op: 'remove', path: '/parameters/toString' }],
    ['an optional member that is not there', { op: 'remove', path: '/featureName' }],
  ])('changes nothing when it removes %s', (_, operation) => {
    expect(patch(operation)).toEqual(aDocument());
  });

  it('applies its operations in order', () => {
    const steps: JsonPatch = [
      { op: 'add', path: '/constraints/-', value: { contextName: 'appName', operator: 'IN', values: [] } },
      { op: 'add', path: '/constraints/1/values/-', value: 'web' },
      { op: 'remove', path: '/constraints/0' },
    ];
    expect(patch(...steps)['constraints']).toEqual([{ contextName: 'appName', operator: 'IN', values: ['web'] }]);
  });

  it('can replace the whole document', () => {
    expect(patch({ op: 'replace', path: '', value: { name: 'default' } })).toEqual({ name: 'default' });
    expect(patch({ op: 'copy', from: '/parameters', path: '' })).toMatchObject({ rollout: '50' });
  });

  it('modifies neither the document nor the patch', () => {
    const document = aDocument();
    const value = { contextName: 'a', operator: 'IN', values: [] as string[] };
    const steps: JsonPatch = [
      { op: 'add', path: '/constraints/0', value },
      { op: 'add', path: '/constraints/0/values/-', value: 'x' },
      { op: 'copy', from: '/constraints/0', path: '/constraints/-' },
      { op: 'replace', path: '/constraints/0/contextName', value: 'b' },
      { op: 'move', from: '/segments', path: '/featureName' },
      { op: 'remove', path: '/parameters/rollout' },
    ];
    const after = applyPatch(document, steps, patchable);
    expect(document).toEqual(aDocument());
    expect(value.values).toEqual([]);
    expect((after['constraints'] as unknown[]).at(-1)).toEqual({ contextName: 'a', operator: 'IN', values: ['x'] });
  });

  it('copies by value', () => {
    const after = patch(
      { op: 'copy', from: '/constraints/0', path: '/constraints/-' },
      { op: 'replace', path: '/constraints/1/contextName', value: 'appName' },
    );
    expect(after['constraints']).toMatchObject([{ contextName: 'userId' }, { contextName: 'appName' }]);
  });
});

describe('a patch is refused with the invalid path', () => {
  it.each<[string, unknown, string]>([
    ['without a slash', { op: 'replace', path: 'title', value: 'x' }, 'title'],
    ['outside the document', { op: 'add', path: '/bogus', value: 'x' }, '/bogus'],
    ['with an empty name', { op: 'add', path: '/', value: 'x' }, '/'],
    ['through a missing parent', { op: 'add', path: '/featureName/b/c', value: 'x' }, '/featureName/b/c'],
    ['through text', { op: 'add', path: '/name/0', value: 'x' }, '/name/0'],
    ['through null', { op: 'add', path: '/title/x', value: 'x' }, '/title/x'],
    ['through a missing index', { op: 'replace', path: '/constraints/3/values', value: [] }, '/constraints/3/values'],
    ['through the end of a list', { op: 'replace', path: '/constraints/-/values', value: [] }, '/constraints/-/values'],
    ['beyond the end', { op: 'add', path: '/segments/4', value: 9 }, '/segments/4'],
    ['at a missing index', { op: 'replace', path: '/segments/3', value: 9 }, '/segments/3'],
    ['removing a missing index', { op: 'remove', path: '/segments/3' }, '/segments/3'],
    ['removing the end of a list', { op: 'remove', path: '/segments/-' }, '/segments/-'],
    ['replacing the end of a list', { op: 'replace', path: '/segments/-', value: 9 }, '/segments/-'],
    ['with a leading zero', { op: 'replace', path: '/segments/01', value: 9 }, '/segments/01'],
    ['with an exponent', { op: 'add', path: '/segments/1e0', value: 9 }, '/segments/1e0'],
    ['with a negative index', { op: 'replace', path: '/segments/-1', value: 9 }, '/segments/-1'],
    ['with a negative zero', { op: 'replace', path: '/segments/-0', value: 9 }, '/segments/-0'],
    ['with a fraction', { op: 'replace', path: '/segments/0.5', value: 9 }, '/segments/0.5'],
    [
      'with an index that wraps around',
      { op: 'replace', path: '/segments/4294967296', value: 9 },
      '/segments/4294967296',
    ],
    ['with the largest index', { op: 'add', path: '/segments/2147483648', value: 9 }, '/segments/2147483648'],
    ['with a name of a list', { op: 'replace', path: '/segments/length', value: 0 }, '/segments/length'],
    ['with a blank index', { op: 'replace', path: '/segments/', value: 0 }, '/segments/'],
    ['with half an escape', { op: 'add', path: '/parameters/a~', value: 'x' }, '/parameters/a~'],
    ['with a wrong escape', { op: 'add', path: '/parameters/a~2', value: 'x' }, '/parameters/a~2'],
    ['replacing a parameter that is not there', { op: 'replace', path: '/parameters/x', value: '1' }, '/parameters/x'],
    ['removing a member of a list element', { op: 'remove', path: '/constraints/0/value' }, '/constraints/0/value'],
    ['adding nothing to a list', { op: 'add', path: '/segments/-' }, '/segments/-'],
    ['replacing in a list with nothing', { op: 'replace', path: '/segments/0' }, '/segments/0'],
    ['copying from nowhere', { op: 'copy', path: '/title' }, '/title'],
    ['moving from nowhere', { op: 'move', path: '/title' }, '/title'],
    ['copying what is not there', { op: 'copy', from: '/parameters/x', path: '/title' }, '/parameters/x'],
    ['moving what is not there', { op: 'move', from: '/segments/3', path: '/segments/0' }, '/segments/3'],
    ['copying from outside', { op: 'copy', from: '/bogus', path: '/title' }, '/bogus'],
    ['moving into itself', { op: 'move', from: '/parameters', path: '/parameters/x' }, '/parameters/x'],
    ['moving the document into itself', { op: 'move', from: '', path: '/title' }, '/title'],
    ['moving beyond the end', { op: 'move', from: '/segments/0', path: '/segments/3' }, '/segments/3'],
    ['removing the document', { op: 'remove', path: '' }, ''],
    ['replacing the document with a list', { op: 'replace', path: '', value: [] }, ''],
    ['replacing the document with nothing', { op: 'replace', path: '' }, ''],
    ['replacing the document with text', { op: 'copy', from: '/name', path: '' }, ''],
  ])('%s', (_, operation, path) => {
    const refusal = refusalOf([operation]);
    expect(refusal.kind).toBe('ValidationError');
    expect(refusal.details[0]?.path).toBe(path);
    expect(refusal.message).toContain(path === '' ? 'the root' : `\`${path}\``);
  });

  it.each([
    '/__proto__',
    '/__proto__/x',
    '/parameters/__proto__',
    '/parameters/__proto__/polluted',
    '/parameters/constructor',
    '/parameters/constructor/prototype/polluted',
    '/constraints/0/prototype',
    '/constraints/__proto__',
  ])('when it addresses a prototype: %s', (path) => {
    expect(refusalOf([{ op: 'add', path, value: 'x' }]).details[0]?.path).toBe(path);
    expect(refusalOf([{ op: 'copy', from: path, path: '/title' }]).details[0]?.path).toBe(path);
    expect({}).not.toHaveProperty('polluted');
  });

  it.each<[string, string]>([
    ['/parameters', '{"__proto__": {"polluted": "x"}}'],
    ['/constraints/0', '{"contextName": "a", "values": [{"__proto__": null}]}'],
    ['', '{"name": "default", "__proto__": {}}'],
  ])('when its value contains a prototype: %s', (path, value) => {
    const refusal = refusalOf([{ op: 'replace', path, value: JSON.parse(value) as unknown }]);
    expect(refusal.details[0]?.path).toBe(path);
    expect(refusal.message).toContain('__proto__');
  });

  it('when it has more than a hundred steps', () => {
    const step = { op: 'remove', path: '/title' };
    expect(() => refusalOf(Array.from({ length: 100 }, () => step))).toThrow('was not refused');
    expect(refusalOf(Array.from({ length: 101 }, () => step)).message).toContain('`/body`');
  });

  it('with a path that is too long, which is not repeated', () => {
    expect(refusalOf([{ op: 'add', path: `/${'x'.repeat(100_000)}`, value: 1 }]).message.length).toBeLessThan(1000);
  });
});

describe('a patch cannot make a document grow without bound', () => {
  it('by doubling it, 22 times over', () => {
    const double = { op: 'copy', from: '/constraints', path: '/constraints/-' };
    expect(refusalOf(Array.from({ length: 22 }, () => double)).details[0]?.path).toBe('/constraints/-');
  });

  it('by copying the whole into itself', () => {
    const double = { op: 'copy', from: '', path: '/constraints/-' };
    expect(refusalOf(Array.from({ length: 22 }, () => double)).details[0]?.path).toBe('/constraints/-');
  });

  it('by copying long text', () => {
    const steps = Array.from({ length: 99 }, (_, nth) => ({ op: 'copy', from: '/title', path: `/parameters/p${nth}` }));
    const refusal = refusalOf([{ op: 'add', path: '/title', value: 'x'.repeat(90_000) }, ...steps]);
    expect(refusal.details[0]?.path).toBe('/parameters/p1');
  });

  it('a patch that adds one huge value is refused with the path of the value', () => {
    const value = Array.from({ length: 1_000_000 }, () => 0);
    expect(refusalOf([{ op: 'add', path: '/segments', value }]).details[0]?.path).toBe('/segments');
  });

  it('in depth', () => {
    const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(refusalOf([{ op: 'add', path: '/segments', value: nested(5000) }]).message).toContain('levels deep');
    const innermost = `/segments${'/0'.repeat(39)}/-`;
    const steps = [
      { op: 'add', path: '/segments', value: nested(40) },
      { op: 'copy', from: '/segments', path: innermost },
    ];
    expect(refusalOf(steps).details[0]?.path).toBe(innermost);
  });

  it('but may replace a large value repeatedly', () => {
    const value = 'x'.repeat(200_000);
    const steps: JsonPatch = Array.from({ length: 100 }, () => ({ op: 'replace', path: '/title', value }));
    expect(patch(...steps)['title']).toBe(value);
    const inTurns: JsonPatch = Array.from({ length: 50 }, () => [
      { op: 'add' as const, path: '/parameters/x', value },
      { op: 'remove' as const, path: '/parameters/x' },
    ]).flat();
    expect(patch(...inTurns)).toEqual(aDocument());
  });

  it('and a document that is already large can still be patched', () => {
    const values = Array.from({ length: 30_000 }, (_, nth) => String(nth));
    const document = { ...aDocument(), constraints: [{ values }] };
    const after = applyPatch(
      document,
      [
        { op: 'replace', path: '/title', value: 'x' },
        { op: 'remove', path: '/constraints/0/values/0' },
      ],
      patchable,
    );
    expect(after['title']).toBe('x');
    expect(refusalOf([{ op: 'copy', from: '/constraints/0', path: '/constraints/-' }], document).message).toContain(
      'too large',
    );
  });
});

describe('any patch', () => {
  const path = fc.oneof(
    fc.constantFrom(
      '',
      '/',
      '/name',
      '/title',
      '/parameters',
      '/parameters/rollout',
      '/constraints/0/values/-',
      '/segments/-',
      '/segments/0',
      '/constraints',
      '/__proto__/x',
      '/constraints/-',
    ),
    fc
      .array(fc.oneof(fc.string(), fc.constantFrom('parameters', 'constraints', '0', '-', 'constructor')), {
        maxLength: 4,
      })
      .map((keys) => `/${keys.join('/')}`),
  );
  // As JSON has it: a zero without a sign.
  const value = fc.jsonValue().map((one) => JSON.parse(JSON.stringify(one)) as unknown);
  const operation = fc.record(
    { op: fc.constantFrom('add', 'remove', 'replace', 'copy', 'move'), path, from: path, value },
    { requiredKeys: ['op', 'path'] },
  );

  it('is applied or refused with a path, and results in plain JSON', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), (operations) => {
        try {
          const after = applyPatch(aDocument(), operations as JsonPatch, patchable);
          expect(JSON.parse(JSON.stringify(after))).toEqual(after);
          expect(JSON.stringify(after).length).toBeLessThan(patchLimits.characters * 1.1);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          expect(error.details[0]?.path).toEqual(expect.any(String));
        }
        expect(Object.prototype).toEqual({});
      }),
      { numRuns: 500 },
    );
  });
});

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
  it('has the result of an independent implementation, or both refuse it: 5,000 patches', () => {
    const from = random(6902);
    const count = { done: 0, refused: 0 };
    for (let nth = 0; nth < 5_000; nth++) {
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
    expect(Math.min(count.done, count.refused)).toBeGreaterThan(1_000);
  });
});

it.each(growingPatches)('a patch without bound is refused when it %s', (_, patch) => {
  expect(either(() => applyPatch({ a: { a: {} } }, patch as JsonPatch, anyDocument))).toBe('refused');
});
