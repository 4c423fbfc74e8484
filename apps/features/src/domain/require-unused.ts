import { refusal } from '@bunting/contracts';
import { shortName } from './refusals.ts';

/** An object that uses another one, and its project. */
export interface Referrer {
  readonly name: string;
  readonly project: string;
}

const maxListed = 10;

/** Lists referrers for an error message. Those in projects hidden from the caller are only counted. */
export const formatReferrers = (referrers: readonly Referrer[], hidden: readonly string[]): string => {
  const all = [...new Map(referrers.map((referrer) => [referrer.name, referrer])).values()];
  const seen = all.filter(({ project }) => !hidden.includes(project));
  const some = seen.slice(0, maxListed).map(({ name }) => shortName(name));
  const names = [...some, ...(seen.length > maxListed ? ['…'] : [])].join(', ');
  const unseen = all.length - seen.length;
  if (unseen === 0) return names;
  const others = unseen === 1 ? '1 other' : `${unseen} others`;
  return names === '' ? others : `${names} and ${others}`;
};

/**
 * Refuses to delete an object that others refer to.
 * @param object what and which it is, as the error message begins: `Segment beta`
 */
export const requireUnused = (object: string, referrers: readonly Referrer[], hidden: readonly string[]): void => {
  if (referrers.length > 0)
    throw refusal('ConflictError', `${object} is in use by ${formatReferrers(referrers, hidden)}`);
};
