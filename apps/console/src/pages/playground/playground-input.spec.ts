import { describe, expect, it } from 'vitest';
import { countChangedResults, playgroundInputOf, playgroundTableBody } from './playground-input.ts';

const enabled = ['development', 'test', 'production'];
const everything = playgroundInputOf({}, enabled);

describe('the input of the playground', () => {
  it('is every enabled environment and every project until the URL names some', () => {
    expect(everything).toEqual({
      environments: enabled,
      projects: [],
      flag: undefined,
      changeRequest: undefined,
      onlyConcerned: true,
    });
  });

  it.each([
    ['the environments that exist and are enabled', { environments: 'test,moon' }, { environments: ['test'] }],
    ['no environment where the URL names none', { environments: '' }, { environments: [] }],
    ['several projects', { projects: 'shop,,bank' }, { projects: ['shop', 'bank'] }],
    ['one flag', { flag: 'checkout' }, { flag: 'checkout' }],
    ['a change request by its id', { changeRequest: '12' }, { changeRequest: 12 }],
    ['no change request where its id is none', { changeRequest: '0x1' }, { changeRequest: undefined }],
    ['also the flags that the change request does not concern', { concerned: 'false' }, { onlyConcerned: false }],
  ])('is %s', (_, search, chosen) => {
    expect(playgroundInputOf(search, enabled)).toMatchObject(chosen);
  });
});

describe('the evaluation of an input', () => {
  it('is for the empty context where no line has one, and leaves out what is not limited', () => {
    expect(playgroundTableBody(everything, '  ', '\n\n')).toEqual({ environments: enabled, contexts: [{}] });
  });

  it('is for at most fifty lines of contexts, and flags that match at most a hundred characters', () => {
    const lines = Array.from({ length: 51 }, (_, nth) => `userId=${nth}`).join('\n');
    const body = playgroundTableBody(everything, 'x'.repeat(101), lines);
    expect(body.contexts).toHaveLength(50);
    expect(body.query).toHaveLength(100);
  });

  it('compares with a change request the flags that it concerns, but a flag that is chosen in any case', () => {
    const compared = { ...everything, changeRequest: 12 };
    expect(playgroundTableBody(compared, '', '')).toMatchObject({ changeRequest: 12, onlyConcerned: true });
    expect(playgroundTableBody({ ...compared, flag: 'checkout' }, '', '')).toMatchObject({
      features: ['checkout'],
      changeRequest: 12,
      onlyConcerned: false,
    });
  });
});

it('counts the results that a change request changes, in all environments and contexts', () => {
  const [same, changed] = [{ isEnabled: true }, { isEnabled: true, proposed: { isEnabled: false } }];
  const flags = [
    { environments: { development: [same, changed], production: [changed] } },
    { environments: { development: [same], production: [] } },
  ];
  expect(countChangedResults(flags)).toBe(2);
});
