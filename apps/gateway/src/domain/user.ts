/** What a user is called by. */
export interface UserNames {
  readonly name: string | null;
  readonly username: string | null;
  readonly email: string | null;
}

/** What events call a user. */
export const nameInEvents = ({ name, username, email }: UserNames): string => email ?? username ?? name ?? 'unknown';
