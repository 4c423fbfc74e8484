import { describe, expect, it } from 'vitest';
import {
  parseId,
  parameterParser,
  parseDay,
  parseInteger,
  parseKeyword,
  parseList,
  splitOperator,
} from './query-parameter.ts';

const parameter = (text: string) => ({ name: 'type', text });
const must = (rule: string, sent: string) =>
  `The \`/query/type\` property must ${rule}. You sent ${JSON.stringify(sent)}.`;

describe('a parameter of a search', () => {
  it('is undefined where the query lacks it', () => {
    expect(parameterParser<'type' | 'project'>({ type: 'release' })('project', ({ text }) => text)).toBeUndefined();
  });

  it('has at most 4096 characters, however many units they take', () => {
    const textOf = (text: string) => parameterParser({ type: text })('type', (checked) => checked.text);
    expect(textOf('😀'.repeat(4_096))).toHaveLength(8_192);
    for (const tooLong of ['x'.repeat(4_097), '😀'.repeat(4_097)])
      expect(() => textOf(tooLong)).toThrow('The `/query/type` property must be at most 4096 characters long.');
  });

  it('is storable text', () => {
    expect(() => parameterParser({ type: 'a\0b' })('type', ({ text }) => text)).toThrow('`/query/type`');
  });

  it('begins with an operator', () => {
    expect(splitOperator(parameter('IS_NOT:a:b'), ['IS', 'IS_NOT'])).toEqual(['IS_NOT', 'a:b']);
    for (const text of ['', 'IS', ':a', 'is:a', 'IS_NOT :a'])
      expect(() => splitOperator(parameter(text), ['IS', 'IS_NOT'])).toThrow(
        must('begin with IS or IS_NOT, and a colon', text),
      );
  });

  it('lists values with commas between them, each once', () => {
    expect(parseList(parameter('IS:a, b,a'), 'a, b,a')).toEqual(['a', 'b']);
    expect(() => parseList(parameter('IS:a,,b'), 'a,,b')).toThrow(
      must('list at least one value, and none that is empty', 'IS:a,,b'),
    );
    expect(() => parseList(parameter('IS:a\nb'), 'a\nb')).toThrow(must('be one line of text', 'IS:a\nb'));
  });

  it('lists at most 200 values', () => {
    const values = (count: number) => Array.from({ length: count }, (_, nth) => nth).join(',');
    expect(parseList(parameter(values(200)), values(200))).toHaveLength(200);
    expect(() => parseList(parameter(values(201)), values(201))).toThrow('must list at most 200 values');
  });

  it('names a day of the calendar', () => {
    expect(parseDay(parameter('IS:2024-02-29'), '2024-02-29')).toEqual(new Date('2024-02-29T00:00:00Z'));
    for (const date of ['2023-02-29', '2024-2-1', '2024-01-01T00:00:00Z', ''])
      expect(() => parseDay(parameter(`IS:${date}`), date)).toThrow(
        must('end with a date of the calendar, written YYYY-MM-DD', `IS:${date}`),
      );
  });

  it('is a whole number within bounds', () => {
    expect(parseInteger(parameter('007'), 0, 10)).toBe(7);
    expect(parseInteger(parameter('1'.repeat(400)), 0)).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ['', '-1', '11', '1.5', '1e1'])
      expect(() => parseInteger(parameter(text), 0, 10)).toThrow(must('be a whole number from 0 to 10', text));
    expect(() => parseInteger(parameter('x'), 0)).toThrow(must('be a whole number of at least 0', 'x'));
  });

  it('is one of some words', () => {
    expect(parseKeyword(parameter('asc'), ['asc', 'desc'])).toBe('asc');
    expect(() => parseKeyword(parameter('ASC'), ['asc', 'desc'])).toThrow(must('be one of asc, desc', 'ASC'));
  });

  it('is an id when it has at most 15 digits', () => {
    expect(['7', '-42', '9'.repeat(15)].map(parseId)).toEqual([7, -42, 999_999_999_999_999]);
    for (const text of ['', 'mia', '1e3', '7 ', '9'.repeat(16)]) expect(parseId(text)).toBeUndefined();
  });
});
