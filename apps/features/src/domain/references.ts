import { shortName } from './refusals.ts';

/** Something that uses what somebody wants to take away, and the project that it is in. */
export interface Reference {
  readonly name: string;
  readonly project: string;
}

/** How many are named. */
const most = 10;

/** Who uses something, in the words of a refusal: of those in projects that are hidden from who asks, only how many. */
export const formatReferences = (users: readonly Reference[], hidden: readonly string[] = []): string => {
  const all = [...new Map(users.map((user) => [user.name, user])).values()];
  const seen = all.filter(({ project }) => !hidden.includes(project));
  const some = seen.slice(0, most).map(({ name }) => shortName(name));
  const names = [...some, ...(seen.length > most ? ['…'] : [])].join(', ');
  const unseen = all.length - seen.length;
  if (unseen === 0) return names;
  const others = unseen === 1 ? '1 other' : `${unseen} others`;
  return names === '' ? others : `${names} and ${others}`;
};
