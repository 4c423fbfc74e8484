import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../test/builders.ts';
import { folded, searchableText } from './searchable-text.ts';

const partsOf = (...said: Parameters<typeof anEvent>) => searchableText(anEvent(...said)).split(/[\u001e\u001f]/);

describe('The searchable text of an event', () => {
  it('holds who caused it, all keys and values of both data, and its tags', () => {
    expect(
      partsOf({
        createdBy: 'Mia@Example.com',
        data: { title: 'Half of Oslo', disabled: false, segments: [7, { deep: 'er' }], nothing: null },
        preData: { title: 'Everyone' },
        tags: [{ type: 'simple', value: 'Nordic' }],
      }),
    ).toEqual([
      'mia@example.com',
      'title',
      'half of oslo',
      'disabled',
      'false',
      'segments',
      '7',
      'deep',
      'er',
      'nothing',
      'everyone',
      'simple:nordic',
    ]);
  });

  it('spells text as people read it, and not as JSON does', () => {
    expect(partsOf({ data: { description: 'a "quoted" \\ line\nand ünïcode 😀' } })).toContain(
      'a "quoted" \\ line and ünïcode 😀',
    );
  });

  it('holds every part once', () => {
    expect(partsOf({ data: { a: 'same', b: ['same', 'SAME'] }, preData: { a: 'same' } })).toEqual([
      'mia@example.com',
      'a',
      'same',
      'b',
    ]);
  });

  it('separates who caused an event from its data', () => {
    expect(searchableText(anEvent({ createdBy: 'mia', data: { mia: 'mia' } }))).toBe('mia\u001emia');
  });

  it('keeps parts apart, whatever control characters they hold', () => {
    expect(partsOf({ data: { 'a\u001fb': 'c\u0000d\u001fe' } })).toEqual(['mia@example.com', 'a b', 'c d e']);
  });
});

describe('Folded text', () => {
  it('is the same for upper and lower case, sigmas at the end of words included', () => {
    expect(folded('ΟΔΟΣ Straße ÅNGSTRÖM')).toBe(folded('οδος straße ångström'));
    expect(folded('ΟΔΟΣΑ')).toContain(folded('οδος'));
  });

  it('is the same for both ways to spell a character', () => {
    expect(folded('Caf\u0065\u0301')).toBe(folded('CAFÉ'));
  });

  it('is well-formed', () => {
    expect(folded('a\ud800b').isWellFormed()).toBe(true);
  });
});
