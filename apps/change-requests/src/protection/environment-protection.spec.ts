import { describe, expect, it } from 'vitest';
import { miaNow } from '../../test/builders.ts';
import { setEnvironmentProtection } from './environment-protection.ts';

const production = { project: 'shop', environment: 'production' };
function on(requiredApprovals?: number) {
  return { changeRequestsEnabled: true, requiredApprovals };
}
const off = { changeRequestsEnabled: false };

describe('the protection of an environment', () => {
  it.each([
    ['requires one approval unless a number is given', on(), undefined, 1],
    ['requires the minimum of the environment unless a number is given', on(), 3, 3],
    ['takes 0, as the provider of Terraform sends it, for no number', on(0), 3, 3],
    ['can be removed', off, undefined, null],
    ['can be removed, whatever number is sent with it', { ...off, requiredApprovals: 0 }, undefined, null],
  ])('%s', (_, wanted, minimum, expected) => {
    const { requiredApprovals } = setEnvironmentProtection(
      production,
      { before: 2, wanted, minimum, isAdministrator: false },
      miaNow,
    );
    expect(requiredApprovals).toBe(expected);
  });

  it('does not take 11 for the number of approvals, and names the range', () => {
    const change = { before: 2, wanted: on(11), minimum: undefined, isAdministrator: true };
    expect(() => setEnvironmentProtection(production, change, miaNow)).toThrow(
      'The number of approvals must be from 1 to 10, and is 11; to need none, end the protection with changeRequestsEnabled: see the `/body/requiredApprovals` property.',
    );
  });

  it.each([
    ['fewer approvals', on(1), 2, '/body/requiredApprovals'],
    ['no protection', off, 2, '/body/changeRequestsEnabled'],
  ])('cannot be below the minimum of the environment: %s', (_, wanted, before, path) => {
    const change = (isAdministrator: boolean) =>
      setEnvironmentProtection(production, { before, wanted, minimum: 3, isAdministrator }, miaNow);
    expect(() => change(false)).toThrow(
      `The environment production asks for at least 3 approvals: see the \`${path}\` property.`,
    );
    expect(() => change(true)).not.toThrow();
  });

  it('may stay below a minimum that the environment got later', () => {
    const change = { before: 2, wanted: on(2), minimum: 3, isAdministrator: false };
    const { events } = setEnvironmentProtection(production, change, miaNow);
    expect(events).toEqual([]);
  });
});
