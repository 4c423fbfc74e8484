import { expect, it } from 'vitest';
import { refusalOf } from '../../test/refusal-of.ts';
import { newTag } from './tag.ts';

it('a new tag has a value of at least two characters, not counting blanks around it', () => {
  expect(newTag({ type: 'team', value: ' oslo ' })).toEqual({ type: 'team', value: 'oslo' });
  expect(refusalOf(() => newTag({ type: 'team', value: ' o ' })).message).toContain('`/body/value`');
});
