import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wholeJson } from './json-reader.ts';
import { type StreamEvent, streamEvents } from './stream-events.ts';

function read(text: string, pieceLength: number, maxLength = 1_000_000) {
  const events: StreamEvent[] = [];
  let timesTooLong = 0;
  const feed = streamEvents({
    readJson: wholeJson,
    onEvent: (event) => void events.push(event),
    maxLength,
    onTooLong: () => void timesTooLong++,
  });
  for (let from = 0; from < text.length; from += pieceLength) feed(text.slice(from, from + pieceLength));
  return { events, timesTooLong };
}

it('reads what any parser of server-sent events reads, in whatever pieces it arrives', () => {
  const token = fc.constantFrom('data', 'event', 'id', ':', ' ', '\n', '\r', '\r\n', '\n\n', '\r\r', '{}', 'ß', 'x');
  fc.assert(
    fc.property(fc.array(token, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (tokens, pieceLength) => {
      const text = tokens.join('');
      const expected: { event: string; data: string }[] = [];
      createParser({ onEvent: ({ event = '', data }) => void expected.push({ event, data }) }).feed(text);
      expect(read(text, pieceLength).events.map(({ event, data }) => ({ event, data }))).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

it('reads a long text while it arrives, and a short one at once', () => {
  const [long, short] = [{ text: 'x"'.repeat(200_000) }, { text: '' }];
  const text = `event: a\ndata: ${JSON.stringify(long)}\n\ndata: ${JSON.stringify(short, null, 1).replaceAll('\n', '\ndata: ')}\n\n`;
  const { events } = read(text, 1_000);
  expect(events.map(({ event, data }) => [event, data.length])).toEqual([
    ['a', 0],
    ['', JSON.stringify(short, null, 1).length],
  ]);
  expect(events.map(({ json }) => json())).toEqual([long, short]);
});

it.each(['{"a":', `{"a":"${'x'.repeat(100_000)}`, `]${'x'.repeat(100_000)}`])(
  'refuses a text that is no JSON',
  (text) => {
    const { events } = read(`data: ${text}\n\n`, 1_000);
    expect(() => events[0]?.json()).toThrow(SyntaxError);
  },
);

it('reads nothing beyond the most characters of an event', () => {
  const event = `data: ${'x'.repeat(80)}\n\n`;
  expect(read(event.repeat(3), 7, 100)).toMatchObject({ events: { length: 3 }, timesTooLong: 0 });
  for (const text of [`data: ${'x'.repeat(200)}`, ':'.repeat(200), 'data: x\n'.repeat(20)])
    expect(read(`${event}${text}\n\n${event}`, 7, 100)).toMatchObject({ events: { length: 1 }, timesTooLong: 1 });
});
