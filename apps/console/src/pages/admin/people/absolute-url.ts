/** The absolute URL of a link of the API, which is relative where the server has no public URL. */
export const absoluteUrlOf = (link: string): string => new URL(link, location.origin).href;
