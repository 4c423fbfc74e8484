/** What a token is for. */
export interface TokenScope {
  readonly environment: string;
  /** `['*']` for all */
  readonly projects: readonly string[];
}

/** Whether whatever is delivered to the second scope is delivered to the first one, too. */
export function covers(one: TokenScope, other: TokenScope): boolean {
  if (one.environment !== other.environment) return false;
  return one.projects.includes('*') || other.projects.every((project) => one.projects.includes(project));
}

/** The environment and projects of tokens that get the same. */
export function scopeKeyOf({ environment, projects }: TokenScope): string {
  const normalised = projects.includes('*') ? ['*'] : [...new Set(projects)].sort();
  return JSON.stringify([environment, normalised]);
}
