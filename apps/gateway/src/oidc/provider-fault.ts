import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import { providerTimeoutSeconds } from './provider-timeout.ts';

/** A provider that cannot be used. The message is for users and contains no value that the provider sent. */
export class ProviderFault extends Error {}

const messages: Readonly<Record<string, string>> = {
  OAUTH_TIMEOUT: `The provider did not answer within ${providerTimeoutSeconds} seconds.`,
  OAUTH_RESPONSE_IS_NOT_JSON: 'The provider answered with something else than JSON.',
  OAUTH_PARSE_ERROR: 'The provider answered with something else than JSON.',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'The provider answered with a status that means failure.',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'The provider names another issuer than the address that is configured.',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'The ID token was not issued by this provider to this client for this sign-in.',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'The ID token has expired, or is not valid yet. Are the clocks right?',
  OAUTH_KEY_SELECTION_FAILED: 'The provider publishes no key for the signature of the ID token.',
  OAUTH_INVALID_RESPONSE: 'The response of the provider is not valid.',
};

/** The algorithm of the settings, if an error says that the ID token is signed with another one. */
const expectedAlgorithm = (error: unknown): string | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { reason, expected } = (cause.cause ?? {}) as { readonly reason?: unknown; readonly expected?: unknown };
    if (reason === 'client configuration' && typeof expected === 'string') return expected;
  }
  return undefined;
};

/** The cause of a failure, as text without any value that the provider sent. */
export const providerFaultOf = (error: unknown): ProviderFault => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFault) return cause;
  }
  const fault = (message: string) => new ProviderFault(message, { cause: error });
  if (error instanceof AuthorizationResponseError) {
    return fault(
      error.error === 'access_denied' ? 'The provider denied access.' : 'The provider ended the sign-in with an error.',
    );
  }
  if (error instanceof ResponseBodyError) {
    return fault(
      error.error === 'invalid_client'
        ? 'The provider rejected the client id or its secret.'
        : 'The provider rejected the sign-in, for example because it was started too long ago.',
    );
  }
  const algorithm = expectedAlgorithm(error);
  if (algorithm !== undefined)
    return fault(
      `The ID token of the provider is not signed with ${algorithm}, the algorithm of the settings (idTokenSigningAlgorithm).`,
    );
  const message = messages[String((error as { code?: unknown }).code)];
  return fault(message ?? 'The provider cannot be reached, or its response cannot be used.');
};
