/** Timeout of each request to a provider, in seconds. */
export const providerTimeoutSeconds = 4;
