/** The paths of pages for people who cannot, or need not, sign in: they are shown without the navigation. */
export const pathsForVisitors: ReadonlySet<string> = new Set([
  '/first',
  '/new-user',
  '/reset-password',
  '/forgotten-password',
  '/unsubscribe',
]);
