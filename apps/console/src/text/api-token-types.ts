/** What each type of API token is called, and what it is for. */
export const apiTokenTypes = {
  client: ['Client', 'SDKs in servers: all settings of flags, to be kept secret'],
  frontend: ['Frontend', 'Browsers and apps: evaluated flags only, may be public'],
  admin: ['Admin', 'The whole API, like an administrator'],
} as const;

/** Types of tokens as options of a choice. */
export function tokenTypeOptions(types: readonly (keyof typeof apiTokenTypes)[]) {
  return types.map((id) => ({ id, label: apiTokenTypes[id][0], description: apiTokenTypes[id][1] }));
}
