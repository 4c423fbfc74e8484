import fc from 'fast-check';
import { expect, it } from 'vitest';
import { featureJson } from './feature-json.ts';

/** Reads a text that arrives in pieces of so many characters. */
function read(text: string, pieceLength = text.length) {
  const taken: unknown[] = [];
  const reader = featureJson((feature) => {
    taken.push(JSON.parse(feature));
    return JSON.parse(feature) as unknown;
  });
  for (let from = 0; from < text.length; from += pieceLength) reader.feed(text.slice(from, from + pieceLength));
  return { answer: reader.end(), taken };
}

/** Objects whose texts and names look like the structure around them. */
const tricky = fc.constantFrom('"features":[{', '\\', '"', '"features"', 'features', ']}', '[{"', 'ß', 'events');
const member = fc.oneof(fc.jsonValue({ maxDepth: 4 }), tricky, fc.array(tricky));
const feature = fc.dictionary(fc.oneof(fc.string(), tricky), member, { maxKeys: 4 });
const list = fc.array(fc.oneof({ weight: 5, arbitrary: feature }, { weight: 1, arbitrary: member }), { maxLength: 5 });
const more = fc.dictionary(fc.oneof(fc.string(), tricky), member, { maxKeys: 3 });
const answer = fc.oneof(
  fc.record({ version: fc.integer(), features: list, segments: fc.array(more), more }),
  fc.record({ more, events: fc.array(fc.oneof(fc.record({ type: fc.string(), features: list, more }), member)) }),
  more,
);
const spaces = fc.constantFrom(undefined, 1);

it('reads any answer as it is, in whatever pieces it arrives', () => {
  fc.assert(
    fc.property(answer, spaces, fc.integer({ min: 1, max: 40 }), (value, space, pieceLength) => {
      const text = JSON.stringify(value, null, space);
      expect(read(text, pieceLength).answer).toEqual(JSON.parse(text));
    }),
  );
});

it('takes each feature of an answer and of its events, and nothing else', () => {
  const features = [{ name: 'a"]}', features: [{ name: 'no' }] }, { name: 'b\\' }];
  const others = { segments: [{ id: 1, constraints: [{ features: [{ name: 'no' }] }] }], more: { features: [{}] } };
  expect(read(JSON.stringify({ features, ...others }), 3).taken).toEqual(features);
  expect(read(JSON.stringify({ ...others, events: [{ type: 'hydration', features }, others] }), 3).taken).toEqual(
    features,
  );
});

it.each(['', '{', '{"features":[', '{"features":[{"name":"a"}', '{"features":[{"name":}]}', '{"features":[{}}]', '[}'])(
  'refuses %j, which is no complete JSON',
  (text) => {
    expect(() => read(text, 2)).toThrow(SyntaxError);
  },
);
