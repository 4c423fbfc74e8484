export interface LastAsked {
  readonly environment: string;
  readonly at: string;
}

/** Where and when an application asked for a flag last. */
export function lastAskedOf({
  environments,
}: {
  readonly environments: readonly { readonly name: string; readonly lastSeenAt?: string | null }[];
}): LastAsked | undefined {
  return environments.reduce<LastAsked | undefined>(
    (latest, { name, lastSeenAt }) =>
      lastSeenAt != null && (latest === undefined || lastSeenAt > latest.at)
        ? { environment: name, at: lastSeenAt }
        : latest,
    undefined,
  );
}
