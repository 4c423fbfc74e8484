/** What a user is called by. */
export interface Names {
  readonly name: string | null;
  readonly username: string | null;
  readonly email: string | null;
}

/** What events call a user. */
export const nameInEvents = ({ name, username, email }: Names): string => email ?? username ?? name ?? 'unknown';
