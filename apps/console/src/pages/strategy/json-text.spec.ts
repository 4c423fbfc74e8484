import { describe, expect, it } from 'vitest';
import { jsonFaultAt, jsonTokens, matchingBrackets, placeOf } from './json-text.ts';

/** A text in which `^` stands before the place of the fault. */
function faultIn(marked: string): { readonly found: number | undefined; readonly meant: number | undefined } {
  const meant = marked.indexOf('^');
  const found = jsonFaultAt(jsonTokens(marked.replace('^', '')));
  return { found, meant: meant < 0 ? undefined : meant };
}

describe('the text of a JSON editor', () => {
  it.each([
    '{"name": "flexibleRollout", "parameters": {"rollout": "7"}, "segments": [1, 2.5e3], "disabled": false}',
    '[]',
    '{}',
    '"\\u00e9 \\" ] }"',
    '{"a": [{"b": null}, []]}\n',
    '{"a": 1^',
    '{"a" ^1}',
    '{"a": 1, ^}',
    '{"a": 1 ^"b": 2}',
    '[1, ^]',
    '[1^}',
    '{^a: 1}',
    '{"a": ^tru}',
    '{"a": ^01}',
    '{"a": ^"open\n}',
    '{"a": ^"\\x"}',
    '{} ^{}',
    '^',
    '{^1: 2}',
  ])('has its fault where a parser stops: %j', (marked) => {
    const { found, meant } = faultIn(marked);
    expect(found).toBe(meant);
  });

  it('is the same after it was split', () => {
    const text = '{ "a\\"b": [1, tru,\n "open\n ], "x" }';
    expect(
      jsonTokens(text)
        .map((token) => token.text)
        .join(''),
    ).toBe(text);
  });

  it('has a fault exactly where a browser reads no JSON', () => {
    const whole = '{"a": [1, {"b": "c, ]"}, true], "d": null}';
    for (let end = 0; end <= whole.length; end++)
      for (const added of ['', '"', '}', ']', ',', ':', '1', 'x']) {
        const text = whole.slice(0, end) + added + whole.slice(end + added.length);
        let isRead = true;
        try {
          JSON.parse(text);
        } catch {
          isRead = false;
        }
        expect({ text, hasFault: jsonFaultAt(jsonTokens(text)) !== undefined }).toEqual({ text, hasFault: !isRead });
      }
  });

  it('shows the partner of the bracket beside the cursor, and not those within texts', () => {
    const text = '{"a": ["]", {}]}';
    const tokens = jsonTokens(text);
    expect(matchingBrackets(tokens, 0)).toEqual([0, 15]);
    expect(matchingBrackets(tokens, 16)).toEqual([15, 0]);
    expect(matchingBrackets(tokens, 6)).toEqual([6, 14]);
    expect(matchingBrackets(tokens, 3)).toBeUndefined();
    expect(matchingBrackets(jsonTokens('[1'), 0)).toBeUndefined();
  });

  it('has lines and columns from 1', () => {
    expect(placeOf('{\n  "a": x', 9)).toEqual({ line: 2, column: 8 });
    expect(placeOf('', 0)).toEqual({ line: 1, column: 1 });
  });
});
