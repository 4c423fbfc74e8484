/** The paths of pages for people who cannot sign in yet: they are shown without the navigation. */
export const pathsForVisitors: ReadonlySet<string> = new Set([
  '/first',
  '/new-user',
  '/reset-password',
  '/forgotten-password',
]);
