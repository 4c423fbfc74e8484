import { randomBytes } from 'node:crypto';

/** A secret that was just made: `shown` names it for people wherever the secret itself must not be told. */
export interface NewSecret {
  readonly secret: string;
  readonly shown: string;
}

const publicDigits = 12;

const secretFor = (beginning: string): NewSecret => {
  const named = `${beginning}${randomBytes(publicDigits / 2).toString('hex')}`;
  return { secret: `${named}${randomBytes(32).toString('hex')}`, shown: `${named}...` };
};

const scopeOf = (projects: readonly string[]): string => {
  if (projects.includes('*')) return '*';
  return projects.length === 1 ? (projects[0] as string) : '[]';
};

/** A new secret of 256 random bits behind twelve public digits, in the format that Unleash's clients know (admin-api.md 7.1). */
export const newTokenSecret = (projects: readonly string[], environment: string): NewSecret =>
  secretFor(`${scopeOf(projects)}:${environment}.`);

/** The same for a key that acts as a user or a service account. */
export const newUserSecret = (): NewSecret => secretFor('user:');

/** What stands for a secret that somebody chose: of its text nothing may be shown. */
export const shownOfGiven = (id: string): string => `given-${id.slice(0, 8)}...`;
