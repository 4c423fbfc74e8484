/** The kinds of tokens that a project has: those of applications. */
export const kinds = ['client', 'frontend'] as const;
