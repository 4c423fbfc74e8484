import { describe, expect, it } from 'vitest';
import { localTime, operatorsFor, valuesOfText } from './constraint-values.ts';

describe('the values of a constraint', () => {
  it.each([
    ['ann\nbob', ['ann', 'bob']],
    ['ann, bob ,ann', ['ann', 'bob']],
    ['ann\tbob\r\ncarl', ['ann', 'bob', 'carl']],
    ['Oslo, Norway\nMalmö, Sweden', ['Oslo, Norway', 'Malmö, Sweden']],
    ['', []],
  ])('are read from a text with one in each line or between commas: “%s”', (text, values) => {
    expect(valuesOfText(text)).toEqual(values);
  });

  it('keep the empty line that is being typed', () => {
    expect(valuesOfText('ann\n')).toEqual(['ann', '']);
  });
});

describe('the operators of a context field', () => {
  it('are times for the current time, and begin with “is” for others', () => {
    expect(operatorsFor('currentTime', true)).toEqual(['DATE_AFTER', 'DATE_BEFORE']);
    expect(operatorsFor('country', false)[0]).toBe('IN');
    expect(operatorsFor('country', false)).not.toContain('REGEX');
    expect(operatorsFor('country', true)).toContain('REGEX');
  });
});

it('shows a time in the zone of the reader, and none for what is no time', () => {
  const shown = localTime('2026-11-22T10:30:00.000Z');
  expect(new Date(shown).toISOString()).toBe('2026-11-22T10:30:00.000Z');
  expect(localTime('soon')).toBe('');
});
