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
  const distinctReferrers = [...new Map(referrers.map((referrer) => [referrer.name, referrer])).values()];
  const visible = distinctReferrers.filter(({ project }) => !hidden.includes(project));
  const listed = visible.slice(0, maxListed).map(({ name }) => shortName(name));
  const names = [...listed, ...(visible.length > maxListed ? ['…'] : [])].join(', ');
  const hiddenCount = distinctReferrers.length - visible.length;
  if (hiddenCount === 0) return names;
  const others = hiddenCount === 1 ? '1 other' : `${hiddenCount} others`;
  return names === '' ? others : `${names} and ${others}`;
};

/**
 * Refuses to delete an object that others refer to.
 * @param object the kind and the name of the object, such as `Segment beta`
 */
export const requireUnused = (object: string, referrers: readonly Referrer[], hidden: readonly string[]): void => {
  if (referrers.length > 0)
    throw refusal('ConflictError', `${object} is in use by ${formatReferrers(referrers, hidden)}`);
};
