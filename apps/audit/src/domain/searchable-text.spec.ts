import { describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import { searchableText } from './searchable-text.ts';

const partsOf = (...said: Parameters<typeof anEvent>) => searchableText(anEvent(...said)).split(/[\u001e\u001f]/);

describe('The searchable text of an event', () => {
  it('contains its actor, all keys and values of both data, and its tags', () => {
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

  it('contains text without JSON escapes', () => {
    expect(partsOf({ data: { description: 'a "quoted" \\ line\nand ünïcode 😀' } })).toContain(
      'a "quoted" \\ line and ünïcode 😀',
    );
  });

  it('contains a part that occurs several times only once', () => {
    expect(partsOf({ data: { a: 'same', b: ['same', 'SAME'] }, preData: { a: 'same' } })).toEqual([
      'mia@example.com',
      'a',
      'same',
      'b',
    ]);
  });

  it('separates the actor from the data', () => {
    expect(searchableText(anEvent({ createdBy: 'mia', data: { mia: 'mia' } }))).toBe('mia\u001emia');
  });

  it('separates parts that contain control characters', () => {
    expect(partsOf({ data: { 'a\u001fb': 'c\u0000d\u001fe' } })).toEqual(['mia@example.com', 'a b', 'c d e']);
  });
});
