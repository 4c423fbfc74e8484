/** Where a PostgreSQL is, for messages: host and port, or folder and port of a Unix socket. */
export const hostAndPortOf = (url: string): string => decodeURIComponent(new URL(url).host);

/** The name of the database in a URL. */
export const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));
