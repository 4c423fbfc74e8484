import { expect, it } from 'vitest';
import { refusalOf } from '../../test/refusal-of.ts';
import { newTagType, tagTypeView, updateTagType } from './tag.ts';

const { type: team, events: created } = newTagType({ name: 'team', description: 'who owns it' });

it('a tag type has a name of at most 50 characters that needs no escape in a URL', () => {
  expect(team).toEqual({ name: 'team', description: 'who owns it', icon: null, color: null });
  expect(created).toEqual([{ type: 'tag-type-created', data: team }]);
  expect(refusalOf(() => newTagType({ name: 'a b' })).message).toContain('`/body/name`');
  expect(refusalOf(() => newTagType({ name: 'a'.repeat(51) })).message).toContain('`/body/name`');
});

it('a new tag type is shown with the properties of the request', () => {
  expect(tagTypeView(team)).toEqual({ name: 'team', description: 'who owns it' });
});

it('an update of a tag type keeps omitted properties', () => {
  const after = { ...team, icon: 'T' };
  expect(updateTagType(team, { icon: 'T' })).toEqual({
    type: after,
    events: [{ type: 'tag-type-updated', data: after, preData: team }],
  });
  expect(updateTagType(team, { description: 'who owns it' })).toEqual({ type: team, events: [] });
});
