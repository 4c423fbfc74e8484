import { describe, expect, it } from 'vitest';
import { maxOfferedOptions, offeredOptions } from './offered-options.ts';

const many = Array.from({ length: 10_000 }, (_, nth) => ({ id: String(nth), label: `Flag-${nth}` }));

describe('the options that a combo box offers', () => {
  it('are all of a few, whatever is typed, in their order', () => {
    const few = many.slice(0, maxOfferedOptions);
    expect(offeredOptions(few, '7', '7')).toBe(few);
  });

  it('are a hundred of ten thousand: those that begin with the text first, then those that contain it', () => {
    expect(offeredOptions(many, '', null)).toHaveLength(maxOfferedOptions);
    const found = offeredOptions([{ id: 'a', label: 'old flag-777' }, ...many], 'FLAG-777', null);
    expect(found.slice(0, 2).map(({ label }) => label)).toEqual(['Flag-777', 'Flag-7770']);
    expect(found.at(-1)?.label).toBe('old flag-777');
    expect(offeredOptions(many, 'nothing like it', null)).toEqual([]);
  });

  it('have the chosen one, whose name in the field is no search', () => {
    const offered = offeredOptions(many, 'Flag-9999', '9999');
    expect(offered).toHaveLength(maxOfferedOptions);
    expect(offered[0]?.label).toBe('Flag-9999');
    expect(offeredOptions(many, 'Flag-5', '9999').map(({ label }) => label)).toContain('Flag-9999');
  });
});
