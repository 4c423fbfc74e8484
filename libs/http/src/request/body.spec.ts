import { describe, expect, it } from 'vitest';
import { Refusal } from '@bunting/contracts';
import fc from 'fast-check';
import { requireJsonWithin } from './body.ts';

const wide = { depth: 64, members: 1_000, items: 1_000, values: 1_000_000 };

const refused = (json: string, bounds: Partial<typeof wide>): string | undefined => {
  try {
    requireJsonWithin(json, { ...wide, ...bounds });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
};

/** Counts depth, members and items of the parsed value: the oracle for the limits, which count them in the text. */
const measured = (value: unknown): { depth: number; members: number; items: number; values: number } => {
  const most = { depth: 0, members: 0, items: 0, values: 0 };
  const walk = (value: unknown, depth: number): void => {
    most.values++;
    if (typeof value !== 'object' || value === null) return;
    most.depth = Math.max(most.depth, depth + 1);
    const inner = Object.values(value);
    const kind = Array.isArray(value) ? 'items' : 'members';
    most[kind] = Math.max(most[kind], inner.length);
    for (const member of inner) walk(member, depth + 1);
  };
  walk(value, 0);
  return most;
};

describe('JSON', () => {
  it.each<[string, string, Partial<typeof wide>]>([
    ['is nested more than 2 levels deep', '[[]]|[[[]]]', { depth: 2 }],
    ['has an object with more than 2 members', '{"a":1,"b":[1,2,3]}|[{"a":1,"b":2,"c":3}]', { members: 2 }],
    ['has a list with more than 2 items', '[{"a":1,"b":2,"c":3},2]|{"a":[1,2,3]}', { items: 2 }],
    ['holds more than 4 values', '[1,{"a":[]}]|[1,{"a":[2]}]', { values: 4 }],
  ])('that %s is rejected, and accepted at the limit', (what, texts, bounds) => {
    const [within = '', beyond = ''] = texts.split('|');
    expect(refused(within, bounds)).toBeUndefined();
    expect(refused(beyond, bounds)).toBe(`The \`/body\` property ${what}.`);
  });

  it('is measured by its values, not by the content of its strings and white space', () => {
    const text = '{ "a[[[[{,,,,\\"[[,": " ,,,,[[{{\\\\" , "b":\n[\t] }';
    expect(refused(text, { depth: 2, members: 2, items: 1, values: 3 })).toBeUndefined();
  });

  it('of any shape is rejected exactly beyond its measured size', () => {
    const shapes = fc.jsonValue({ maxDepth: 6 });
    const check = (value: unknown, indented: boolean) => {
      const json = JSON.stringify(value, null, indented ? 2 : undefined);
      const exactly = measured(JSON.parse(json));
      expect(refused(json, exactly)).toBeUndefined();
      for (const [bound, most] of Object.entries(exactly)) {
        if (most > 1) expect(refused(json, { [bound]: most - 1 })).toBeDefined();
      }
    };
    fc.assert(fc.property(shapes, fc.boolean(), check), { numRuns: 300 });
  });

  it('that is malformed is limited too, and left to the parser', () => {
    for (const text of ['', ']]]}}', '"never ends', '"\\', '[}{]', ',,,', '{"a":1,,,}']) {
      expect(refused(text, {})).toBeUndefined();
    }
    expect(refused(']'.repeat(100) + '['.repeat(100), {})).toContain('nested');
    expect(refused(','.repeat(100), { values: 50 })).toContain('values');
  });
});
