import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import type { EdgeToken } from './token.ts';
import { edgeTokens } from './tokens.ts';

const wide: EdgeToken = { token: '*:development.wide', type: 'client', environment: 'development', projects: ['*'] };
const page: EdgeToken = {
  token: 'shop:development.page',
  type: 'frontend',
  environment: 'development',
  projects: ['shop'],
};
const foreign: EdgeToken = { token: '*:production.other', type: 'client', environment: 'production', projects: ['*'] };

/** Tokens of an edge whose origin calls those valid that are in `valid`. */
function given({ listed = [wide.token], isStrict = true } = {}) {
  const valid = new Map([wide, page, foreign].map((token) => [token.token, token]));
  const asked: (readonly string[])[] = [];
  const lost: string[] = [];
  let isAway = false;
  const tokens = edgeTokens({
    listed,
    isStrict,
    validate: async (batch) => {
      if (isAway) throw new Error('The origin is away.');
      asked.push(batch);
      return batch.flatMap((token) => valid.get(token) ?? []);
    },
    onKnown: () => undefined,
    onLost: ({ token }) => void lost.push(token),
  });
  const grantsOf = async (token: string): Promise<Caller['grants']> =>
    (await tokens.authenticate({ authorization: token })).caller.grants;
  return { tokens, valid, asked, lost, grantsOf, away: () => void (isAway = true) };
}

describe('an edge', () => {
  it('asks for tokens that arrive at the same time in one question, and once for each', async () => {
    const { asked, grantsOf } = given({ isStrict: false });
    await Promise.all([wide, page, page].map(({ token }) => grantsOf(token)));
    await grantsOf(page.token);
    expect(asked).toEqual([[wide.token, page.token]]);
  });

  it('does not ask again for a token that the origin has just refused', async () => {
    const { asked, grantsOf } = given({ isStrict: false });
    for (let nth = 0; nth < 3; nth++) await expect(grantsOf('shop:development.unknown')).rejects.toThrow('not valid');
    expect(asked).toHaveLength(1);
  });

  it('that is strict accepts tokens within the scope of a listed one, and does not ask for those of other environments', async () => {
    const { tokens, asked, grantsOf } = given();
    await tokens.revalidate();
    expect(await grantsOf(`Bearer ${page.token}`)).toEqual([
      { permission: 'FRONTEND', project: 'shop', environment: 'development' },
    ]);
    const questions = asked.length;
    await expect(async () => grantsOf(foreign.token)).rejects.toThrow('not valid');
    expect(asked).toHaveLength(questions);
  });

  it('that is strict knows none of the stored tokens that its listed ones are no longer for', async () => {
    const { tokens, grantsOf, away } = given();
    away();
    tokens.restore([foreign, page, wide]);
    for (const { token } of [page, wide]) expect(await grantsOf(token)).toHaveLength(1);
    await expect(async () => grantsOf(foreign.token)).rejects.toThrow('not valid');
    const narrowed = given();
    narrowed.away();
    narrowed.tokens.restore([page, { ...wide, projects: ['bank'] }]);
    await expect(narrowed.grantsOf(page.token)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
  });

  it('lets no address with too many unknown keys keep others waiting, and asks for none of one that has sent too many', async () => {
    const { asked, tokens } = given({ isStrict: false });
    const from = (address: string) => ({ address, requireBudget: () => undefined });
    const flood = Array.from({ length: 1_500 }, (_, nth) =>
      Promise.resolve().then(() => tokens.identify(`*:development.${nth}`, from('192.0.2.1'))),
    );
    const settled = Promise.allSettled(flood);
    await Promise.resolve();
    expect((await tokens.identify(page.token, from('192.0.2.2'))).isPublic).toBe(true);
    await settled;
    expect(asked.flat()).toHaveLength(101);
    const spent = {
      address: '192.0.2.1',
      requireBudget: () => {
        throw new Error('too many');
      },
    };
    expect(() => tokens.identify('*:development.another', spent)).toThrow('too many');
    // A valid key is accepted, however many invalid ones come from its address.
    expect((await tokens.identify(page.token, spent)).isPublic).toBe(true);
    expect(asked.flat()).toHaveLength(101);
  });

  it('keeps known tokens while the origin is away, and neither accepts nor refuses others for good', async () => {
    const { tokens, lost, grantsOf, away } = given({ isStrict: false });
    await grantsOf(page.token);
    away();
    await expect(tokens.revalidate()).rejects.toThrow('away');
    expect(await grantsOf(page.token)).toHaveLength(1);
    await expect(grantsOf(wide.token)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    expect(lost).toEqual([]);
  });

  it('serves a page whose key arrives before the edge knows what its own are for', async () => {
    const { grantsOf } = given();
    expect(await grantsOf(page.token)).toHaveLength(1);
  });

  it('refuses no key for good while the origin does not tell what a listed one is for, and accepts it once it does', async () => {
    const { tokens, valid, grantsOf } = given();
    valid.delete(wide.token);
    for (const { token } of [page, wide])
      await expect(grantsOf(token)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    valid.set(wide.token, wide);
    await tokens.revalidate();
    for (const { token } of [page, wide]) expect(await grantsOf(token)).toHaveLength(1);
  });

  it('refuses keys within the scope of a listed one that is not valid, until it is', async () => {
    const { tokens, valid, grantsOf } = given();
    valid.delete(wide.token);
    for (let nth = 0; nth < 3; nth++) await tokens.revalidate();
    for (const { token } of [page, wide])
      await expect(grantsOf(token)).rejects.toMatchObject({ kind: 'AuthenticationRequired' });
    valid.set(wide.token, wide);
    await tokens.revalidate();
    expect(await grantsOf(page.token)).toHaveLength(1);
  });

  it('forgets no key after one answer without it', async () => {
    const { tokens, valid, asked, lost, grantsOf } = given();
    await Promise.all([wide, page].map(({ token }) => grantsOf(token)));
    valid.clear();
    expect(await tokens.revalidate()).toBeGreaterThan(0);
    valid.set(wide.token, wide).set(page.token, page);
    expect(await tokens.revalidate()).toBeUndefined();
    valid.clear();
    for (let nth = 0; nth < 2; nth++) await tokens.revalidate();
    expect(lost).toEqual([]);
    expect(await grantsOf(page.token)).toHaveLength(1);
    // Those that are in doubt are asked for again, and no others.
    valid.set(wide.token, wide);
    await tokens.revalidate();
    expect(lost).toEqual([page.token]);
    expect(asked.at(-1)).toEqual([wide.token, page.token]);
  });

  it('forgets a token that was revoked, and gives one that was narrowed its new projects', async () => {
    const { tokens, valid, lost, grantsOf } = given({ isStrict: false });
    await Promise.all([wide, page].map(({ token }) => grantsOf(token)));
    valid.delete(page.token);
    valid.set(wide.token, { ...wide, projects: ['shop'] });
    for (let nth = 0; nth < 3; nth++) await tokens.revalidate();
    expect(lost).toEqual([page.token]);
    await expect(grantsOf(page.token)).rejects.toThrow('not valid');
    expect(await grantsOf(wide.token)).toEqual([{ permission: 'CLIENT', project: 'shop', environment: 'development' }]);
  });
});
