import { describe, expect, it } from 'vitest';
import { inPreferredOrder, shownEnvironments } from './environment-preference.ts';

const twelve = [
  ...['development', 'test', 'qa', 'staging', 'canary', 'demo', 'preview', 'load', 'eu', 'us'].map((name) => ({
    name,
    type: 'test',
  })),
  { name: 'production', type: 'production' },
  { name: 'toString', type: 'test' },
];
const namesOf = (environments: readonly { readonly name: string }[]) => environments.map(({ name }) => name);

describe('the environments that a person sees', () => {
  it('are all of a few, in the order of the installation', () => {
    expect(shownEnvironments(twelve.slice(0, 3), { first: [], hidden: [] }, 5)).toEqual(twelve.slice(0, 3));
  });

  it('are, of many, production and the first ones, until the person chooses', () => {
    const shown = shownEnvironments(twelve, { first: [], hidden: [] }, 5);
    expect(namesOf(shown)).toEqual(['development', 'test', 'qa', 'staging', 'production']);
    expect(shownEnvironments(twelve, { first: [], hidden: [] })).toEqual(twelve);
  });

  it('are those that the person put first, before all others', () => {
    const preference = { first: ['us', 'canary'], hidden: [] };
    expect(namesOf(shownEnvironments(twelve, preference, 4))).toEqual(['us', 'canary', 'development', 'production']);
    expect(namesOf(inPreferredOrder(twelve, preference)).slice(0, 3)).toEqual(['us', 'canary', 'development']);
  });

  it('are not those that the person has hidden, but a new environment and all of them when all are hidden', () => {
    const hidden = twelve.slice(0, 9).map(({ name }) => name);
    expect(namesOf(shownEnvironments(twelve, { first: [], hidden }, 2))).toEqual(['us', 'production', 'toString']);
    expect(shownEnvironments(twelve, { first: [], hidden: namesOf(twelve) }, 2)).toEqual(twelve);
  });

  it('of another project than that of hidden ones are limited as before', () => {
    expect(shownEnvironments(twelve.slice(0, 4), { first: [], hidden: ['production'] }, 3)).toHaveLength(3);
  });
});
