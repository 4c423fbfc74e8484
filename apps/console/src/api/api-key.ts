// In memory only: a reload loses it, and no other tab or script can read it.
let apiKey: string | undefined;

export const authorizationHeader = (): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: apiKey };

export const hasApiKey = (): boolean => apiKey !== undefined;

/** Sends an API key with every further call, until the page is left; undefined sends none. */
export const setApiKey = (key: string | undefined): void => {
  apiKey = key;
};
