const areProtected = (environments: readonly string[]): string =>
  `${environments.join(' and ')} ${environments.length === 1 ? 'is' : 'are'} protected`;

export const protectionMessages = {
  isProposed: (environments: readonly string[]) =>
    `${areProtected(environments)}: this becomes part of your change request, and takes effect when that is approved and applied.`,
  appliesDirectly: (environments: readonly string[]) =>
    `${areProtected(environments)}. You have the permission to skip change requests: this applies directly, without approval.`,
  proposeInstead: 'Propose it instead',
  saveDirectly: 'Save directly',
  deleteDirectly: 'Delete directly',
  mayBeDirect: (environment: string) =>
    `${environment} is protected: this becomes part of your change request. You have the permission to skip change requests, and can also do it directly, without approval.`,
} as const;
