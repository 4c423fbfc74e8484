import { expect, it } from 'vitest';
import { segmentIdReader } from './segment-ids.ts';
import { maxSegmentListSize, type SegmentListContentType } from './segment-lists.ts';

/** The ids of a text, in pieces of some length: where it is cut must not matter. */
const idsOf = (text: string, contentType: SegmentListContentType, pieceLength = text.length + 1): string[] => {
  const reader = segmentIdReader(contentType, 'userId');
  const ids: string[] = [];
  for (let from = 0; from < text.length; from += pieceLength)
    ids.push(...reader.read(text.slice(from, from + pieceLength)));
  ids.push(...reader.end());
  expect(reader.count).toBe(ids.length);
  return ids;
};

it.each<[string, SegmentListContentType, string, string[]]>([
  ['the first column of a CSV', 'text/csv', 'a,1\nb,2\n', ['a', 'b']],
  ['a CSV without its header', 'text/csv', 'userId,name\na,Ann\n', ['a']],
  ['a CSV whose first id is not the header', 'text/csv', 'userid\nuserId\n', ['userid', 'userId']],
  [
    'quotes, commas and line breaks in quotes',
    'text/csv',
    '"a,b",x\n"say ""hi""","1\n2"\nc\n',
    ['a,b', 'say "hi"', 'c'],
  ],
  ['a header in quotes', 'text/csv', '"userId"\n"a"\n', ['a']],
  ['quotes in another column', 'text/csv', 'a,"x"\nb,"y\n\nz"\nc\n', ['a', 'b', 'c']],
  [
    'quotes within a field, which are part of it',
    'text/csv',
    'a,5" disk\nb,x\nc"d,6" disk\nd,y',
    ['a', 'b', 'c"d', 'd'],
  ],
  ['quotes of names over several lines', 'text/csv', 'u1,Ann "the\nu2,Bob\nu3,Cy"\nu4,z', ['u1', 'u2', 'u3', 'u4']],
  ['a header after an empty line', 'text/csv', '\n ,x\nuserId\na', ['a']],
  ['a quoted last line without a break', 'text/csv', 'a\r\n "b""" , "c" \r\n"d"', ['a', 'b"', 'd']],
  ['CRLF, empty lines and a last line without a break', 'text/csv', 'a\r\n\r\n  b \r\nc', ['a', 'b', 'c']],
  ['texts of any script', 'text/plain', 'ünïcode\n日本\n😀 smile\n', ['ünïcode', '日本', '😀 smile']],
  ['commas and quotes of plain lines', 'text/plain', 'a,b\n"c"\r\n', ['a,b', '"c"']],
  ['JSON texts and numbers', 'application/x-ndjson', '"a"\n17\n\n"b\\u00e9"\n', ['a', '17', 'bé']],
  ['objects with the context field', 'application/x-ndjson', '{"userId":"a","x":1}\n{"userId":5}\n', ['a', '5']],
  ['nothing', 'text/csv', '', []],
])('a list is read from %s', (_, contentType, text, expected) => {
  for (const pieceLength of [1, 2, 3, 7, text.length + 1])
    expect(idsOf(text, contentType, pieceLength)).toEqual(expected);
});

it.each<[string, SegmentListContentType, string, RegExp]>([
  ['an id that is too long', 'text/plain', `a\n${'x'.repeat(256)}\n`, /Line 2 .*255 characters/],
  ['a control character', 'text/plain', 'a\nb\nc\u0000d\n', /Line 3 .*control character/],
  ['half of a surrogate pair', 'text/plain', 'a\ud800\n', /Line 1 .*surrogate/],
  ['a line break within quotes', 'text/csv', 'a\n"b\nc"\n', /Line 2 .*control character/],
  ['an open quote', 'text/csv', 'a\n"b\n', /Line 2 .*quote/],
  ['an open quote in another column', 'text/csv', 'a,"x\nb,y', /Line 1 .*not closed/],
  ['text after a quote in another column', 'text/csv', 'a\nb,"x"y\n', /Line 2 .*closing quote/],
  ['text after a quote in the last line', 'text/csv', 'a\nb,"x"y', /Line 2 .*closing quote/],
  ['text after a quote', 'text/csv', '"a"b\n', /Line 1 .*closing quote/],
  ['a line after a record of two lines', 'text/csv', 'a,"1\n2"\n"b"c\n', /Line 3 .*closing quote/],
  ['no JSON', 'application/x-ndjson', '"a"\nb\n', /Line 2 .*JSON/],
  ['an object without the field', 'application/x-ndjson', '{"id":"a"}\n', /Line 1 .*"userId"/],
  ['a member of the prototype', 'application/x-ndjson', '{}\n', /Line 1 .*"userId"/],
  ['an empty JSON text', 'application/x-ndjson', '""\n', /Line 1 .*empty/],
  ['a fraction', 'application/x-ndjson', '1.5\n', /Line 1 /],
  ['a line that never ends', 'text/plain', 'x'.repeat(70_000), /Line 1 .*65536 characters/],
])('a list is refused for %s, with its line', (_, contentType, text, message) => {
  expect(() => idsOf(text, contentType)).toThrow(message);
  expect(() => idsOf(text, contentType, 1_000)).toThrow(message);
});

it('a request has a million ids, and not one more', () => {
  const reader = segmentIdReader('text/plain', 'userId');
  const lines = 'a\n'.repeat(1_000);
  for (let nth = 0; nth < maxSegmentListSize / 1_000; nth++) reader.read(lines);
  expect(reader.count).toBe(1_000_000);
  expect(() => reader.read('a\n')).toThrow(/Line 1000001 .*1000000/);
});

it('the time to read quotes grows with the length of the text alone', () => {
  const reader = segmentIdReader('text/csv', 'userId');
  const record = `a,"${'\n'.repeat(60_000)}"\n`;
  for (let nth = 0; nth < 20; nth++) expect(reader.read(record)).toEqual(['a']);
});
